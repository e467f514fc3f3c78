import type { DaemonSetRunContext } from "../daemon-set-run.ts";
import { hashOf } from "./controller-revision.ts";
import { deleteRevision, type Revisions } from "./find-revisions.ts";

/** Deletes the earliest old revisions, except for as many as the DaemonSet keeps, and for those that pods have. */
export async function trimHistory(runContext: DaemonSetRunContext, { old, pods }: Revisions): Promise<void> {
  const used = new Set(pods.map(hashOf));
  const surplus = Math.max(0, old.length - runContext.daemonSet.spec.revisionHistoryLimit);
  const unused = old.filter((one) => !used.has(hashOf(one))).sort((a, b) => a.revision - b.revision);
  for (const revision of unused.slice(0, surplus)) await deleteRevision(runContext, revision);
}
