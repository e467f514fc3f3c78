import type { Allowed } from "../canonical/compare.ts";

/** All of them. One that no sequence meets any more fails a run of 1,000 sequences or more. */
export const allowedDifferences: readonly Allowed[] = [
  {
    covers: ({ action, path, reference, subject }) =>
      action.do === "pods" &&
      action.change === "delete" &&
      /^replacements\.[^.]+\[\d+\]$/.test(path) &&
      typeof reference === "number" &&
      reference > 0 &&
      subject === 0,
    reason:
      "A pod that was deleted is replaced as soon as it is gone. kube-controller-manager waits ten seconds: it remembers the " +
      "failure, until it is started again. Here failures are counted by the pods that exist.",
  },
];
