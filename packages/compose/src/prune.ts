import { isApiError } from "@drover/kube";
import { type ApplyContext, deleteChild } from "./apply-child.ts";
import { childId, type DesiredChild, type ObservedChild, titleOf } from "./child.ts";
import { allMarks, deletionOf } from "./marks.ts";

/** What was done to the children that are no longer declared. */
export interface Pruned {
  /** A line for each child that was deleted or released. */
  readonly lines: readonly string[];
  /** The first refusal of the API server: the others were done nevertheless. */
  readonly failure?: Error;
}

/**
 * Deletes or releases the children that the function no longer declares.
 *
 * Each write is for the version that was read: a child that has changed since causes a Conflict.
 */
export async function pruneChildren(
  context: ApplyContext,
  desired: readonly DesiredChild[],
  observed: ReadonlyMap<string, ObservedChild>,
): Promise<Pruned> {
  const declared = new Set(desired.map(childId));
  const lines: string[] = [];
  const failures: Error[] = [];
  for (const [id, child] of observed) {
    if (declared.has(id) || child.object.metadata.deletionTimestamp !== undefined) continue;
    const deletion = deletionOf(child.object);
    if (deletion === "Retain") continue;
    try {
      if (deletion === "Orphan") await release(context, child);
      else await deleteChild(context, child, "Background");
    } catch (error) {
      if (!isApiError(error, "Conflict", "Forbidden", "Invalid", "NotFound")) throw error;
      failures.push(error);
      continue;
    }
    lines.push(`${titleOf(child.ref, child.object)} is ${deletion === "Orphan" ? "released" : "deleted"}`);
  }
  const [failure] = failures;
  return { lines, ...(failure !== undefined && { failure }) };
}

/** Removes Drover's marks from a child, which then belongs to nobody. */
async function release({ client, signal }: ApplyContext, { ref, key, object }: ObservedChild): Promise<void> {
  const { uid, resourceVersion } = object.metadata;
  const none = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, null]));
  const marks = { labels: none(allMarks.labels), annotations: none(allMarks.annotations) };
  const body = { metadata: { uid, resourceVersion, ...marks } };
  await client.patch(ref, key, { type: "merge", body }, { signal });
}
