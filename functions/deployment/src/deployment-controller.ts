import { defineController, type ReconcileContext } from "@drover/controller";
import { builtin, kindOf } from "@drover/kube";
import { type Now, orphansOf, stepOf } from "@drover/workloads";
import { Deployment } from "./deployment.ts";
import { reconcileDeployment } from "./reconcile-deployment.ts";

const sets = kindOf(builtin.replicaSet);

/** Brings a Deployment's pods from one template to the next, by ReplicaSets, one for each template. */
export const deploymentController = (now?: Now) => {
  const run = (context: ReconcileContext<typeof Deployment>) => reconcileDeployment(stepOf(context, now));
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
