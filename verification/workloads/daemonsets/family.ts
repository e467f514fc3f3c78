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
  sequenceOf,
  unsettled,
  lacksEvent: () => false,
  state: canonicalState,
  violations,
  allowed: allowedDifferences,
};
