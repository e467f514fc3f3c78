import {
  createEachPod,
  deletePods,
  isNamespaceTerminating,
  isOwnerAlive,
  type Pod,
  podControlOf,
} from "@drover/workloads";
import type { Changes, DaemonSetRunContext, PodsByNode } from "../daemon-set-run.ts";
import { templateFor } from "./pod-template.ts";

/** Maximum number of pods that a run creates, and that it deletes. */
const burst = 250;

export interface AppliedChanges {
  readonly created: readonly Pod[];
  readonly firstFailure?: PromiseRejectedResult | undefined;
}

/**
 * Creates pods, in batches that double as long as they succeed, and deletes others.
 *
 * @param pods all pods of the DaemonSet: the name of a pod depends on those that its node had before.
 */
export async function applyChanges(
  runContext: DaemonSetRunContext,
  changes: Changes,
  { pods, hash }: { readonly pods: PodsByNode; readonly hash: string },
): Promise<AppliedChanges> {
  const control = podControlOf(runContext);
  const create = (await isStillWanted(runContext, changes)) ? changes.create.slice(0, burst) : [];
  const wanted = create.map((planned) => ({
    template: templateFor(runContext.daemonSet, hash, planned),
    distinctBy: [planned.node, (pods.get(planned.node) ?? []).map(({ metadata }) => metadata.uid).sort()],
  }));
  const created = await createEachPod(control, wanted, []);
  const deleted = await deletePods(control, changes.delete.slice(0, burst));
  // In a namespace that is being deleted no pod can be created, and none is needed.
  const refused = isNamespaceTerminating(created.firstFailure?.reason) ? undefined : created.firstFailure;
  return { created: created.done, firstFailure: refused ?? deleted.firstFailure };
}

/**
 * Checks that the DaemonSet still exists before pods are created. If it had pods, it may have been deleted, and its pods
 * with it: the run's copy of it may be older than those of its pods.
 */
async function isStillWanted(runContext: DaemonSetRunContext, { create }: Changes): Promise<boolean> {
  const { client, owner, daemonSet, context } = runContext;
  if (create.length === 0 || daemonSet.status.currentNumberScheduled === 0) return true;
  return isOwnerAlive({ client, owner, signal: context.signal });
}
