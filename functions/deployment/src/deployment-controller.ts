import { defineController, type Kind } from "@drover/controller";
import { builtin, type KubeClient, type ResourceRef } from "@drover/kube";
import { Deployment } from "./deployment.ts";
import { reconcileDeployment } from "./reconcile-deployment.ts";

export interface DeploymentParts {
  readonly client: KubeClient;
  readonly now?: () => Date;
}

const kindOf = ({ namespaced, ...ref }: ResourceRef): Kind => ({
  ...ref,
  scope: namespaced ? "Namespaced" : "Cluster",
});
const sets = kindOf(builtin.replicaSet);

/** Brings a Deployment's pods from one template to the next, by ReplicaSets, one for each template. */
export const deploymentController = ({ client, now = () => new Date() }: DeploymentParts) =>
  defineController({
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
    reconcile: (context) => reconcileDeployment({ client: client.guarded(context.guard), now, context }),
    whileDeleting: (context) => reconcileDeployment({ client: client.guarded(context.guard), now, context }),
  });
