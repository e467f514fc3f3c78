import { defineController, type Kind, type ReconcileContext } from "@drover/controller";
import { builtin, type KubeClient, type ResourceRef } from "@drover/kube";
import { ReplicaSet } from "@drover/workloads";
import { reconcileReplicaSet } from "./reconcile-replica-set.ts";

export interface ReplicaSetParts {
  /** The process's: it is asked for in every run. */
  readonly client: () => KubeClient;
  readonly now?: () => Date;
}

const kindOf = ({ namespaced, ...ref }: ResourceRef): Kind => ({
  ...ref,
  scope: namespaced ? "Namespaced" : "Cluster",
});
const pods = kindOf(builtin.pod);
/** What of a pod can change what its ReplicaSet does or says. */
const changed = [
  ...["status.phase", "status.conditions", "metadata.labels"],
  ...["metadata.ownerReferences", "metadata.deletionTimestamp"],
];

/** Keeps as many pods of a template as a ReplicaSet asks for, and says how they are. */
export const replicaSetController = ({ client, now = () => new Date() }: ReplicaSetParts) => {
  const run = (context: ReconcileContext<typeof ReplicaSet>) =>
    reconcileReplicaSet({ client: client().guarded(context.guard), now, context });
  return defineController({
    name: "replicaset",
    for: ReplicaSet,
    owns: [{ kind: pods, changed }],
    // Orphans that it may adopt.
    watches: [
      {
        kind: pods,
        changed: ["metadata.labels", "metadata.ownerReferences"],
        names: { selectedBy: "spec.selector" },
      },
    ],
    retry: { first: "50ms", longest: "5m" },
    reconcile: run,
    whileDeleting: run,
  });
};
