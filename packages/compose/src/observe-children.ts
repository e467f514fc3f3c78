import type { ObjectMetadata, OwnedKind } from "@drover/controller";
import {
  isApiError,
  isControlledBy,
  keyOf,
  type KubeObject,
  listAll,
  refOf,
  type ResourceRef,
  selectorQuery,
} from "@drover/kube";
import { childId, type ObservedChild } from "./child.ts";
import type { ApplyContext } from "./apply-child.ts";
import { isChild, ownerLabel } from "./marks.ts";

interface ObserveOptions {
  readonly isLive?: boolean | undefined;
  /** If true, objects that the parent controls and that lack Drover's labels are children, too. */
  readonly takesOver?: boolean | undefined;
}

/**
 * Finds the children that this controller has made for the object, of all kinds that it owns. In a run that has cached
 * lists, this needs no request, unless `isLive` is set.
 */
export async function observeChildren(
  { client, metadata, owns, labels, signal }: ApplyContext,
  { isLive = false, takesOver = false }: ObserveOptions = {},
): Promise<ReadonlyMap<string, ObservedChild>> {
  const listed = async (owned: OwnedKind): Promise<readonly ObservedChild[]> => {
    const ref = refOf(owned.kind);
    const selector = { matchLabels: labels };
    const children: ObservedChild[] = [];
    // One after the other: the run's cache takes the version of a kind's first list.
    for (const namespace of namespacesOf(metadata, ref, owned)) {
      const found = isLive
        ? listAll(client, ref, { namespace, labelSelector: selectorQuery(selector), signal })
        : client.find(ref, { namespace, selector, signal });
      const objects = (await found.catch(unlessServed)).filter((object) => isChild(object, labels, metadata));
      const others = takesOver ? await unlabelled(ref, namespace) : [];
      children.push(...[...objects, ...others].map((object) => ({ ref, key: keyOf(object), object })));
    }
    return children;
  };
  /** The objects that the parent controls, and that another program has made for it. */
  const unlabelled = async (
    ref: ResourceRef,
    namespace: string | undefined,
  ): Promise<readonly KubeObject[]> => {
    const labelSelector = `!${ownerLabel}`;
    const all = await listAll(client, ref, { namespace, labelSelector, signal }).catch(unlessServed);
    return all.filter((object) => isControlledBy(object.metadata, metadata));
  };
  const found = await Promise.all(owns.map(listed));
  return new Map(found.flat().map((child) => [childId(child), child]));
}

/** The namespaces in which children of a kind may be; undefined: all, or none. */
function namespacesOf(
  parent: ObjectMetadata,
  { namespaced }: ResourceRef,
  { namespaces, acrossNamespaces = false }: OwnedKind,
): readonly (string | undefined)[] {
  if (!namespaced) return [undefined];
  if (parent.namespace !== undefined && !acrossNamespaces) return [parent.namespace];
  return namespaces ?? [undefined];
}

/** A kind whose CRD is missing has no objects. If one is declared, its apply reports that. */
function unlessServed(error: unknown): readonly KubeObject[] {
  if (isApiError(error, "NotServed")) return [];
  throw error;
}
