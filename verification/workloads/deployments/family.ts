import type { Family } from "../family.ts";
import { butBoth } from "../subjects.ts";
import { conditionOf, isTrue } from "../sequences/kinds.ts";
import { allowedDifferences } from "./allowed-differences.ts";
import { sequenceOf } from "./generate.ts";
import { violations } from "./invariants.ts";
import { canonicalState } from "./state.ts";
import { unsettled } from "./unsettled.ts";

/** Deployments and ReplicaSets. */
export const deployments: Family = {
  name: "deployments",
  kinds: ["Deployment", "ReplicaSet", "Pod"],
  podOwner: "ReplicaSet",
  functions: ["replicaset", "deployment"],
  controllers: butBoth,
  warmUp: {
    kind: "Deployment",
    object: {
      spec: {
        selector: { matchLabels: { app: "warm" } },
        template: {
          metadata: { labels: { app: "warm" } },
          spec: { containers: [{ name: "main", image: "img" }] },
        },
      },
    },
    isDone: (object) => isTrue(object, "Available"),
  },
  quietMs: 1_200,
  patienceMs: 60_000,
  sequenceOf,
  unsettled,
  lacksEvent: (set, reasons) =>
    conditionOf(set, "ReplicaFailure") !== undefined && !reasons.includes("FailedCreate"),
  state: canonicalState,
  violations,
  allowed: allowedDifferences,
};
