import { defineController, type ReconcileContext } from "@drover/controller";
import { builtin, kindOf } from "@drover/kube";
import { type Clock, orphanWatch, ReplicaSet, runContextOf } from "@drover/workloads";
import { reconcileReplicaSet } from "./reconcile-replica-set.ts";

const pods = kindOf(builtin.pod);
/** The fields of a pod that can change the decisions or the status of its ReplicaSet. */
const changed = [
  ...["status.phase", "status.conditions", "metadata.labels"],
  ...["metadata.ownerReferences", "metadata.deletionTimestamp"],
];

/** Keeps as many pods of a template as a ReplicaSet asks for, and counts them in its status. */
export const replicaSetController = (now?: Clock) => {
  const run = (context: ReconcileContext<typeof ReplicaSet>) =>
    reconcileReplicaSet(runContextOf(context, now));
  return defineController({
    name: "replicaset",
    for: ReplicaSet,
    owns: [{ kind: pods, changed, copies: true }],
    watches: [orphanWatch(pods)],
    copies: true,
    retry: { first: "50ms", longest: "5m" },
    reconcile: run,
    whileDeleting: run,
  });
};
