import type { ObjectMetadata } from "@drover/controller";
import type { KubeObject } from "@drover/kube";
import type { ApplyContext } from "./apply-child.ts";
import { childId, type DesiredChild } from "./child.ts";
import type { Observation } from "./observed/observe-children.ts";
import { isElsewhere } from "./parent.ts";

/**
 * The annotation of a parent with the ids of its children elsewhere. An id is added before its child is made, and removed
 * when the child is gone. So the record has all of these children, and no object that others have made to look like one.
 */
const recordAnnotation = "drover.dev/children-elsewhere";

/** The ids of the children elsewhere that the parent's annotation has. No id has a blank. */
export const recordedIn = ({ annotations }: ObjectMetadata): ReadonlySet<string> =>
  new Set((annotations?.[recordAnnotation] ?? "").split(" ").filter((id) => id !== ""));

/**
 * Records on the parent the children elsewhere that are declared, and those that may still exist.
 *
 * @returns the parent after that; undefined if its record is right already.
 * @throws ApiError of kind Conflict if the parent has changed since it was read.
 */
export async function recordElsewhere(
  context: ApplyContext,
  desired: readonly DesiredChild[],
  { isGone }: Observation,
): Promise<KubeObject | undefined> {
  const { client, ref, key, metadata, recorded, signal } = context;
  const declared = desired.filter(({ object }) => isElsewhere(context, object.metadata.namespace));
  const ids = new Set([...[...recorded].filter((id) => !isGone(id)), ...declared.map(childId)]);
  if (ids.size === recorded.size && ids.isSubsetOf(recorded)) return undefined;
  const { uid, resourceVersion } = metadata;
  const annotations = { [recordAnnotation]: ids.size === 0 ? null : [...ids].sort().join(" ") };
  const body = { metadata: { uid, resourceVersion, annotations } };
  return client.patch(ref, key, { type: "merge", body }, { signal });
}
