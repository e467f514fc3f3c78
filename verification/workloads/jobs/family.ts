import { fateAnnotation } from "@drover/real-cluster";
import type { Family } from "../family.ts";
import { isTrue } from "../sequences/kinds.ts";
import { allowedDifferences } from "./allowed-differences.ts";
import { sequenceOf } from "./generate.ts";
import { violations } from "./invariants.ts";
import { canonicalState } from "./state.ts";
import { lacksEvent, unsettled } from "./unsettled.ts";

/** Jobs. */
export const jobs: Family = {
  name: "jobs",
  kinds: ["Job", "Pod"],
  podOwner: "Job",
  functions: ["job"],
  controllers: ["*", "-job-controller", "-ttl-after-finished-controller"],
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
  // A controller may wait a second for further changes.
  quietMs: 1_500,
  // Up to 40 s until failed pods are replaced, and a minute until a lifted quota is noticed.
  patienceMs: 100_000,
  sequenceOf,
  unsettled,
  lacksEvent,
  state: canonicalState,
  violations,
  allowed: allowedDifferences,
};
