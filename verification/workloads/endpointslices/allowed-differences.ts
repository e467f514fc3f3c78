import { field } from "../../../packages/sandbox/src/json.ts";
import type { Allowed } from "../canonical/compare.ts";

/** All of them. One that no sequence meets any more fails a run of 1,000 sequences or more. */
export const allowedDifferences: readonly Allowed[] = [
  {
    covers: ({ path, action, reference }) =>
      (action.do === "slice" ||
        (action.do === "patch" &&
          field(action.patch, "spec", "ipFamilyPolicy") !== undefined &&
          reference === undefined)) &&
      /\.metadata\.annotations(\.|$)/.test(path),
    reason:
      "kube-controller-manager remembers when pods became ready, so the slices with which it replaces those of users, or which " +
      "a Service gets for an address type that it had before, have no time of a change. The function compares pods with their " +
      "slices: an endpoint that none has counts as added.",
  },
];
