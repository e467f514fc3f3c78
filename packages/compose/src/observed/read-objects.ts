import type { ListOptions, ObjectClient, ObjectKey, ObjectList } from "@drover/controller";
import type { KubeObject, ResourceRef } from "@drover/kube";

/** Objects in a page of a list: a page of large ones must fit into memory, too. */
export const pageSize = 50;

/** Most objects that are read at once for one run. */
const readsAtOnce = 10;

interface ReadContext {
  readonly client: ObjectClient;
  readonly signal: AbortSignal;
}

/** The objects of a list, page by page: the caller may end it before all of them are in memory. */
export async function* pagesOf(
  { client, signal }: ReadContext,
  ref: ResourceRef,
  options: Omit<ListOptions, "continue" | "signal">,
): AsyncGenerator<readonly KubeObject[]> {
  let page: ObjectList | undefined;
  do {
    page = await client.list(ref, { limit: pageSize, ...options, signal, continue: page?.continue });
    yield page.items;
  } while (page.continue !== undefined);
}

/** The objects with these names that exist, a few at a time. */
export async function* objectsByKey(
  { client, signal }: ReadContext,
  ref: ResourceRef,
  keys: readonly ObjectKey[],
): AsyncGenerator<readonly KubeObject[]> {
  for (let i = 0; i < keys.length; i += readsAtOnce) {
    const some = keys.slice(i, i + readsAtOnce).map((key) => client.get(ref, key, { signal }));
    yield (await Promise.all(some)).filter((object) => object !== undefined);
  }
}
