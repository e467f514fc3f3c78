import type { KubeClient, ListOptions } from "./client.ts";
import type { KubeObject } from "./kube-object.ts";
import type { ResourceRef } from "./resource-ref.ts";

/** Every object of a listing, page by page. */
export async function listAll(
  client: Pick<KubeClient, "list">,
  ref: ResourceRef,
  options: Omit<ListOptions, "continue"> = {},
): Promise<readonly KubeObject[]> {
  const found: KubeObject[] = [];
  let next: string | undefined;
  do {
    const page = await client.list(ref, { ...options, continue: next });
    found.push(...page.items);
    next = page.continue;
  } while (next !== undefined);
  return found;
}
