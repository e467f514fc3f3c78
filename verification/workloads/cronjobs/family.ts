import { fateAnnotation } from "@drover/real-cluster";
import type { Family } from "../family.ts";
import { lacksEvent } from "../jobs/unsettled.ts";
import { isTrue } from "../sequences/kinds.ts";
import { allowedDifferences } from "./allowed-differences.ts";
import { sequenceOf } from "./generate.ts";
import { violations } from "./invariants.ts";
import { canonicalState } from "./state.ts";
import { timesOf } from "./timetable.ts";
import { unsettled } from "./unsettled.ts";

/** CronJobs. Their Jobs are kube-controller-manager's on both sides. */
export const cronJobs: Family = {
  name: "cronjobs",
  kinds: ["CronJob", "Job", "Pod"],
  podOwner: "Job",
  functions: ["cronjob"],
  controllers: ["*", "-cronjob-controller"],
  // A CronJob has no condition, and would take a minute: the first time comes long after all controllers have begun.
  warmUp: {
    kind: "Job",
    object: {
      spec: {
        template: {
          metadata: { annotations: { [fateAnnotation]: "succeeds" } },
          spec: { restartPolicy: "Never", containers: [{ name: "main", image: "img" }] },
        },
      },
    },
    isDone: (object) => isTrue(object, "Complete"),
  },
  // Longer than it takes to start the Jobs of a time in all namespaces.
  quietMs: 4_000,
  // The next action may come twenty seconds later.
  patienceMs: 25_000,
  // A sequence takes minutes, and all of them together no longer.
  defaults: { atOnce: 40, shrink: 0, repeat: 1 },
  sequenceOf,
  timesOf,
  unsettled,
  lacksEvent,
  state: canonicalState,
  violations,
  allowed: allowedDifferences,
};
