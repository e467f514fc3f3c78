import type { ObjectClient } from "@drover/controller";
import { keyOf, refOf } from "@drover/kube";
import { childId, type ObservedChild } from "./child.ts";
import type { Parent } from "./checked-children.ts";
import { isChild } from "./marks.ts";

/**
 * Finds the children that this controller has made for the object, of all kinds that it owns. In a run that has cached
 * lists, this needs no request.
 */
export async function observeChildren(
  client: ObjectClient,
  { metadata, owns, labels }: Parent,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, ObservedChild>> {
  const { namespace } = metadata;
  const found = await Promise.all(
    owns.map(async ({ kind }) => {
      const ref = refOf(kind);
      const objects = await client.find(ref, {
        ...(ref.namespaced && namespace !== undefined && { namespace }),
        selector: { matchLabels: labels },
        signal,
      });
      return objects
        .filter((object) => isChild(object, labels, metadata))
        .map((object) => ({ ref, key: keyOf(object), object }));
    }),
  );
  return new Map(found.flat().map((child) => [childId(child), child]));
}
