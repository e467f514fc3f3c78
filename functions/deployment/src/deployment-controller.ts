import { defineController, type ReconcileContext } from "@drover/controller";
import { builtin, kindOf } from "@drover/kube";
import { type Clock, orphanWatch, runContextOf } from "@drover/workloads";
import { Deployment } from "./deployment.ts";
import { reconcileDeployment } from "./reconcile-deployment.ts";

const sets = kindOf(builtin.replicaSet);

/** Brings a Deployment's pods from one template to the next, by ReplicaSets, one for each template. */
export const deploymentController = (now?: Clock) => {
  const run = (context: ReconcileContext<typeof Deployment>) =>
    reconcileDeployment(runContextOf(context, now));
  return defineController({
    name: "deployment",
    for: Deployment,
    owns: [{ kind: sets, copies: true }],
    watches: [orphanWatch(sets)],
    copies: true,
    retry: { first: "50ms", longest: "5m" },
    reconcile: run,
    whileDeleting: run,
  });
};
