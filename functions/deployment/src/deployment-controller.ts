import { defineController, type Kind, type ReconcileContext } from "@drover/controller";
import { builtin, type KubeClient, type ResourceRef } from "@drover/kube";
import { Deployment } from "./deployment.ts";
import { reconcileDeployment } from "./reconcile-deployment.ts";

export interface DeploymentParts {
  /** The process's: it is asked for in every run. */
  readonly client: () => KubeClient;
  readonly now?: () => Date;
}

const kindOf = ({ namespaced, ...ref }: ResourceRef): Kind => ({
  ...ref,
  scope: namespaced ? "Namespaced" : "Cluster",
});
const sets = kindOf(builtin.replicaSet);

/** Brings a Deployment's pods from one template to the next, by ReplicaSets, one for each template. */
export const deploymentController = ({ client, now = () => new Date() }: DeploymentParts) => {
  const run = (context: ReconcileContext<typeof Deployment>) =>
    reconcileDeployment({ client: client().guarded(context.guard), now, context });
  return defineController({
    name: "deployment",
    for: Deployment,
    owns: [{ kind: sets }],
    // Orphans that it may adopt.
    watches: [
      {
        kind: sets,
        changed: ["metadata.labels", "metadata.ownerReferences"],
        names: { selectedBy: "spec.selector" },
      },
    ],
    retry: { first: "50ms", longest: "5m" },
    reconcile: run,
    whileDeleting: run,
  });
};
