import { defineController, type ReconcileContext } from "@drover/controller";
import { builtin, kindOf } from "@drover/kube";
import { orphansOf, ReplicaSet, stepOf, type WorkloadParts } from "@drover/workloads";
import { reconcileReplicaSet } from "./reconcile-replica-set.ts";

const pods = kindOf(builtin.pod);
/** What of a pod can change what its ReplicaSet does or says. */
const changed = [
  ...["status.phase", "status.conditions", "metadata.labels"],
  ...["metadata.ownerReferences", "metadata.deletionTimestamp"],
];

/** Keeps as many pods of a template as a ReplicaSet asks for, and says how they are. */
export const replicaSetController = (parts: WorkloadParts) => {
  const run = (context: ReconcileContext<typeof ReplicaSet>) => reconcileReplicaSet(stepOf(parts, context));
  return defineController({
    name: "replicaset",
    for: ReplicaSet,
    owns: [{ kind: pods, changed, copies: true }],
    watches: [orphansOf(pods)],
    copies: true,
    retry: { first: "50ms", longest: "5m" },
    reconcile: run,
    whileDeleting: run,
  });
};
