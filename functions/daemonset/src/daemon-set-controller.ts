import { defineController, type ReconcileContext } from "@drover/controller";
import { builtin, kindOf } from "@drover/kube";
import { type Clock, orphanWatch, runContextOf } from "@drover/workloads";
import { DaemonSet } from "./daemon-set.ts";
import { reconcileDaemonSet } from "./reconcile-daemon-set.ts";
import { controllerRevision } from "./revision/controller-revision.ts";

const pods = kindOf(builtin.pod);
const revisions = kindOf(controllerRevision);
/** The fields of a pod that can change the decisions or the status of its DaemonSet. */
const changed = [
  ...["status.phase", "status.conditions", "spec.nodeName", "metadata.labels"],
  ...["metadata.ownerReferences", "metadata.deletionTimestamp"],
];

/** Runs one pod of a template on each node that it fits. */
export const daemonSetController = (now?: Clock) =>
  defineController({
    name: "daemonset",
    for: DaemonSet,
    owns: [
      { kind: pods, changed, copies: true },
      { kind: revisions, copies: true },
    ],
    watches: [
      orphanWatch(pods),
      orphanWatch(revisions),
      {
        kind: kindOf(builtin.node),
        changed: ["metadata.labels", "spec.taints"],
        names: { all: true, acrossNamespaces: true },
      },
    ],
    copies: true,
    retry: { first: "50ms", longest: "5m" },
    // It has no `whileDeleting`: a DaemonSet that is being deleted may have lost its revisions.
    reconcile: (context: ReconcileContext<typeof DaemonSet>) =>
      reconcileDaemonSet(runContextOf(context, now)),
  });
