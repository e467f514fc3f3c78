import type { Allowed } from "../canonical/compare.ts";

/** All of them. One that no sequence meets any more fails a run of 1,000 sequences or more. */
export const allowedDifferences: readonly Allowed[] = [
  {
    covers: ({ path, action }) => action.do === "slice" && /\.metadata\.annotations(\.|$)/.test(path),
    reason:
      "kube-controller-manager remembers when pods became ready, so the slices with which it replaces those of users have no " +
      "time of a change. The function compares pods with their slices: an endpoint that a user has removed counts as added.",
  },
];
