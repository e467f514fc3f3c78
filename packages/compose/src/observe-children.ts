import type { ObjectMetadata } from "@drover/controller";
import { isApiError, keyOf, type KubeObject, refOf, type ResourceRef } from "@drover/kube";
import { childId, type ObservedChild } from "./child.ts";
import type { ApplyContext } from "./apply-child.ts";
import { isChild } from "./marks.ts";

/**
 * Finds the children that this controller has made for the object, of all kinds that it owns. In a run that has cached
 * lists, this needs no request.
 */
export async function observeChildren({
  client,
  metadata,
  owns,
  labels,
  signal,
}: ApplyContext): Promise<ReadonlyMap<string, ObservedChild>> {
  const found = await Promise.all(
    owns.flatMap((owned) => {
      const ref = refOf(owned.kind);
      return namespacesOf(metadata, ref, owned.namespaces).map(async (namespace) => {
        const objects = await client
          .find(ref, {
            ...(namespace !== undefined && { namespace }),
            selector: { matchLabels: labels },
            signal,
          })
          .catch(unlessServed);
        return objects
          .filter((object) => isChild(object, labels, metadata))
          .map((object) => ({ ref, key: keyOf(object), object }));
      });
    }),
  );
  return new Map(found.flat().map((child) => [childId(child), child]));
}

/** The namespaces in which children of a kind may be; undefined: all, or none. */
function namespacesOf(
  parent: ObjectMetadata,
  { namespaced }: ResourceRef,
  declared: readonly string[] | undefined,
): readonly (string | undefined)[] {
  if (!namespaced) return [undefined];
  return parent.namespace === undefined ? (declared ?? [undefined]) : [parent.namespace];
}

/** A kind whose CRD is missing has no objects. If one is declared, its apply reports that. */
function unlessServed(error: unknown): readonly KubeObject[] {
  if (isApiError(error, "NotServed")) return [];
  throw error;
}
