import type { Family } from "../family.ts";
import { allowedDifferences } from "./allowed-differences.ts";
import { sequenceOf } from "./generate.ts";
import { violations } from "./invariants.ts";
import { maxEndpoints, zoneLabel } from "./service.ts";
import { canonicalState } from "./state.ts";
import { unsettled } from "./unsettled.ts";

/** Services and their EndpointSlices. */
export const endpointSlices: Family = {
  name: "endpointslices",
  kinds: ["Service", "EndpointSlice", "Pod"],
  // Pods are created by users.
  podOwner: "ReplicaSet",
  functions: ["endpointslice"],
  settings: { DROVER_MAX_ENDPOINTS_PER_SLICE: String(maxEndpoints) },
  controllers: ["*", "-endpointslice-controller"],
  controllerManagerArgs: [`--max-endpoints-per-slice=${maxEndpoints}`],
  nodes: [{ [zoneLabel]: "zone-a" }, { [zoneLabel]: "zone-b" }, {}],
  warmUp: {
    kind: "Service",
    object: { spec: { selector: { app: "warm" }, ports: [{ port: 80 }] } },
    shownBy: "EndpointSlice",
    isDone: () => true,
  },
  // kube-controller-manager waits a second after a change of a slice.
  quietMs: 1_500,
  patienceMs: 30_000,
  sequenceOf,
  unsettled,
  lacksEvent: () => false,
  state: canonicalState,
  violations,
  allowed: allowedDifferences,
};
