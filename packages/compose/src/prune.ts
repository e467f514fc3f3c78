import { controllerOf } from "@drover/kube";
import { type ApplyContext, deleteChild } from "./apply-child.ts";
import { childId, type DesiredChild, type ObservedChild, titleOf } from "./child.ts";
import { allMarks, deletionOf } from "./marks.ts";

/**
 * Deletes or releases the children that the function no longer declares. Returns a line for each.
 *
 * Each write is for the version that was read: a child that has changed since causes a Conflict.
 */
export async function pruneChildren(
  context: ApplyContext,
  desired: readonly DesiredChild[],
  observed: ReadonlyMap<string, ObservedChild>,
): Promise<readonly string[]> {
  const declared = new Set(desired.map(childId));
  const lines: string[] = [];
  for (const [id, child] of observed) {
    if (declared.has(id) || child.object.metadata.deletionTimestamp !== undefined) continue;
    const deletion = deletionOf(child.object);
    if (deletion === "Retain") continue;
    if (deletion === "Orphan") await release(context, child, "Orphan");
    else await deleteChild(context, child, "Background");
    lines.push(`${titleOf(child.ref, child.object)} is ${deletion === "Orphan" ? "released" : "deleted"}`);
  }
  return lines;
}

/**
 * Removes the owner reference of a child, so that it outlives its parent; with `Orphan`, also Drover's marks. Labels and
 * annotations of a retained child stay: by them it is found when it is declared again.
 */
export async function release(
  { client, metadata, signal }: Pick<ApplyContext, "client" | "metadata" | "signal">,
  { ref, key, object }: ObservedChild,
  deletion: "Orphan" | "Retain",
): Promise<void> {
  const { uid, resourceVersion, ownerReferences = [] } = object.metadata;
  const none = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, null]));
  const marks =
    deletion === "Orphan" ? { labels: none(allMarks.labels), annotations: none(allMarks.annotations) } : {};
  const others = ownerReferences.filter((owner) => owner.uid !== metadata.uid);
  const body = { metadata: { uid, resourceVersion, ownerReferences: others, ...marks } };
  await client.patch(ref, key, { type: "merge", body }, { signal });
}

/** True if a child may outlive its parent, which therefore needs a finalizer. */
export const outlivesParent = ({ object }: ObservedChild): boolean =>
  controllerOf(object.metadata) !== undefined && deletionOf(object) !== "Delete";
