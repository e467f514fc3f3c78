import { type ApiError, isApiError } from "@drover/kube";
import { type ApplyContext, deleteChild } from "./apply-child.ts";
import { childId, type DesiredChild, type ObservedChild } from "./child.ts";
import type { ChildOutcome } from "./compose-outcome.ts";
import { allMarks, deletionOf } from "./marks.ts";

/** The children that are no longer declared, after a run. */
export interface Pruned {
  readonly outcomes: readonly ChildOutcome[];
  /** The first refusal of the API server: the others were done nevertheless. */
  readonly failure?: Error;
}

/**
 * Deletes or releases the children that the function no longer declares.
 *
 * Each write is for the version that was read: a child that has changed since causes a Conflict.
 *
 * @param isComplete false if declared children were not applied: then nothing is removed yet.
 */
export async function pruneChildren(
  context: ApplyContext,
  desired: readonly DesiredChild[],
  observed: ReadonlyMap<string, ObservedChild>,
  isComplete: boolean,
): Promise<Pruned> {
  const declared = new Set(desired.map(childId));
  const outcomes: ChildOutcome[] = [];
  const failures: ApiError[] = [];
  for (const [id, child] of observed) {
    if (declared.has(id)) continue;
    const { ref, key } = child;
    try {
      outcomes.push({ ref, key, ...(await prune(context, child, isComplete)) });
    } catch (error) {
      if (!isApiError(error, "Conflict", "Forbidden", "Invalid", "NotFound")) throw error;
      failures.push(error);
      outcomes.push({ ref, key, did: "refused", why: error.serverMessage });
    }
  }
  const [failure] = failures;
  return { outcomes, ...(failure !== undefined && { failure }) };
}

async function prune(
  context: ApplyContext,
  child: ObservedChild,
  isComplete: boolean,
): Promise<Pick<ChildOutcome, "did" | "why">> {
  if (child.object.metadata.deletionTimestamp !== undefined)
    return { did: "waits", why: "it is being deleted" };
  const deletion = deletionOf(child.object);
  if (deletion === "Retain") return { did: "kept" };
  if (!isComplete) return { did: "waits", why: "it is removed when all declared children have been applied" };
  if (deletion === "Orphan") {
    await release(context, child);
    return { did: "released" };
  }
  await deleteChild(context, child, "Background");
  return { did: "deleted" };
}

/** Removes Drover's marks from a child, which then belongs to nobody. */
async function release({ client, signal }: ApplyContext, { ref, key, object }: ObservedChild): Promise<void> {
  const { uid, resourceVersion } = object.metadata;
  const none = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, null]));
  const marks = { labels: none(allMarks.labels), annotations: none(allMarks.annotations) };
  const body = { metadata: { uid, resourceVersion, ...marks } };
  await client.patch(ref, key, { type: "merge", body }, { signal });
}
