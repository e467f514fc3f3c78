import type { FindOptions, KubeClient, ListOptions } from "./client.ts";
import type { KubeObject } from "../objects/kube-object.ts";
import type { ObjectList } from "./reply.ts";
import type { ResourceRef } from "../objects/resource-ref.ts";

/** All objects of a list, from all of its pages, and the version of the list. */
export async function listPages(
  client: Pick<KubeClient, "list">,
  ref: ResourceRef,
  { onPage, ...options }: Omit<ListOptions, "continue"> & Pick<FindOptions, "onPage"> = {},
): Promise<Pick<ObjectList, "resourceVersion" | "items">> {
  const items: KubeObject[] = [];
  let page: ObjectList | undefined;
  do {
    page = await client.list(ref, { ...options, continue: page?.continue });
    onPage?.(page.items);
    items.push(...page.items);
  } while (page.continue !== undefined);
  return { resourceVersion: page.resourceVersion, items };
}

/** All objects of a list, from all of its pages. */
export const listAll = async (
  client: Pick<KubeClient, "list">,
  ref: ResourceRef,
  options: Omit<ListOptions, "continue"> = {},
): Promise<readonly KubeObject[]> => (await listPages(client, ref, options)).items;
