import { join } from "node:path";
import type { Family } from "../family.ts";
import { counted } from "../sequences/kinds.ts";
import { allowedDifferences } from "./allowed-differences.ts";
import { sequenceOf } from "./generate.ts";
import { violations } from "./invariants.ts";
import { canonicalState } from "./state.ts";
import { unsettled } from "./unsettled.ts";

/** DaemonSets. */
export const daemonSets: Family = {
  name: "daemonsets",
  kinds: ["DaemonSet", "ControllerRevision", "Node", "Pod"],
  podOwner: "DaemonSet",
  functions: ["daemonset"],
  controllers: ["*", "-daemonset-controller"],
  // It deletes pods that do not tolerate a taint, as the controller of DaemonSets does: it is chance which comes first.
  without: ["-taint-eviction-controller"],
  subject: join(import.meta.dirname, "our-function.ts"),
  warmUp: {
    kind: "DaemonSet",
    object: {
      spec: {
        selector: { matchLabels: { app: "warm" } },
        template: {
          metadata: { labels: { app: "warm" } },
          spec: { containers: [{ name: "main", image: "img" }] },
        },
      },
    },
    isDone: (object) => counted(object, "numberReady") > 0,
  },
  quietMs: 1_500,
  patienceMs: 60_000,
  defaults: { atOnce: 24, shrink: 3, repeat: 4 },
  sequenceOf,
  unsettled,
  lacksEvent: () => false,
  state: canonicalState,
  violations,
  allowed: allowedDifferences,
};
