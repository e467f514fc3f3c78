import { defineController, type ReconcileContext } from "@drover/controller";
import { builtin, kindOf } from "@drover/kube";
import { type Clock, orphanWatch, runContextOf } from "@drover/workloads";
import { Job } from "./job.ts";
import { freePodsOfGone } from "./tracking/free-pods.ts";
import { reconcileJob } from "./reconcile-job.ts";

const pods = kindOf(builtin.pod);
/** The fields of a pod that can change the decisions or the status of its Job. */
const changed = [
  "status.phase",
  "status.conditions",
  "status.containerStatuses",
  "status.initContainerStatuses",
  "metadata.labels",
  "metadata.ownerReferences",
  "metadata.deletionTimestamp",
];

/** Runs pods until as many have succeeded as a Job asks for, and counts each that has ended exactly once. */
export const jobController = (now?: Clock) => {
  const run = (context: ReconcileContext<typeof Job>) => reconcileJob(runContextOf(context, now));
  return defineController({
    name: "job",
    for: Job,
    // As kube-controller-manager: pods often end together.
    owns: [{ kind: pods, changed, copies: true, batchFor: "1s" }],
    watches: [orphanWatch(pods)],
    copies: true,
    retry: { first: "1s", longest: "1m" },
    reconcile: run,
    // A Job that is deleted in the foreground waits for its pods, and they for losing their finalizer.
    whileDeleting: run,
    whenGone: freePodsOfGone,
  });
};
