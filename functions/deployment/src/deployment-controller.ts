import { defineController, type ReconcileContext } from "@drover/controller";
import { builtin, kindOf } from "@drover/kube";
import { orphansOf, stepOf, type WorkloadParts } from "@drover/workloads";
import { Deployment } from "./deployment.ts";
import { reconcileDeployment } from "./reconcile-deployment.ts";

const sets = kindOf(builtin.replicaSet);

/** Brings a Deployment's pods from one template to the next, by ReplicaSets, one for each template. */
export const deploymentController = (parts: WorkloadParts) => {
  const run = (context: ReconcileContext<typeof Deployment>) => reconcileDeployment(stepOf(parts, context));
  return defineController({
    name: "deployment",
    for: Deployment,
    owns: [{ kind: sets, copies: true }],
    watches: [orphansOf(sets)],
    copies: true,
    retry: { first: "50ms", longest: "5m" },
    reconcile: run,
    whileDeleting: run,
  });
};
