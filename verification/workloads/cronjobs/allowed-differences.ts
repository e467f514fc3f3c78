import { field, isNumber, isObject, type Json } from "../../../packages/sandbox/src/json.ts";
import type { Allowed } from "../canonical/compare.ts";

/** The reference reports something more often, or as the only one. */
const more = (reference: Json | undefined, subject: Json | undefined): boolean =>
  isNumber(reference) && isNumber(subject)
    ? reference > subject
    : isObject(reference) && subject === undefined;

/** All messages of the deletions that failed are of Jobs that were not there: in the path, or in the value. */
const isNotFound = (path: string, reference: Json | undefined): boolean =>
  (isObject(reference) ? Object.keys(reference) : [path]).every((one) => one.endsWith(" not found"));

/** All of them. One that no sequence meets any more fails a run of 1,000 sequences or more. */
export const allowedDifferences: readonly Allowed[] = [
  {
    covers: ({ action, path }) =>
      action.do === "patch" &&
      action.kind === "CronJob" &&
      ["schedule", "timeZone"].some((name) => field(action.patch, "spec", name) !== undefined) &&
      /^(?:cronJobs\..+\.status|jobs|pods|created|events)\b/.test(path),
    reason:
      "A time of a new schedule that has passed since the last Job is a missed time, as any other: its Job starts at once. " +
      "kube-controller-manager compares with the old schedule, and looks at the CronJob at the next time only.",
    parts: true,
  },
  {
    covers: ({ path, reference, subject }) =>
      (/^events\.CronJob .+: Normal (?:MissingJob|SawCompletedJob)\b/.test(path) ||
        (/^events\.CronJob .+: Warning FailedDelete\b/.test(path) && isNotFound(path, reference))) &&
      more(reference, subject),
    reason:
      "kube-controller-manager can look at a CronJob before it sees its own last writes. It then reports once more that a Job " +
      "has ended, or that one is missing, or was not found, that it has deleted itself.",
  },
];
