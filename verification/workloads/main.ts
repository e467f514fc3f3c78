/**
 * The same user actions with kube-controller-manager's controllers for Deployments and ReplicaSets and with ours, or
 * others, in their place, and where what comes of it differs.
 *
 * ```
 * npm run workloads -- --sequences 300 --seed 7
 * npm run workloads -- --only 1156                  # one sequence again
 * npm run workloads -- --self                       # kube-controller-manager against itself
 * ```
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { wholeNumber } from "../harness/whole-number.ts";
import { report } from "./report.ts";
import { none, reference, subjectOf } from "./subjects.ts";
import { runSuite } from "./suite.ts";

const { values } = parseArgs({
  options: {
    sequences: { type: "string", default: "300" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    only: { type: "string" },
    self: { type: "boolean", default: false },
    none: { type: "boolean", default: false },
    subject: { type: "string", default: join(import.meta.dirname, "our-functions.ts") },
    "at-once": { type: "string", default: "24" },
    shrink: { type: "string", default: "3" },
  },
});

const { only, self, subject } = values;
const chosen = self ? reference : values.none ? none : await subjectOf(subject);
const result = await runSuite({
  subject: chosen,
  sequences: only === undefined ? wholeNumber("sequences", values.sequences) : 1,
  seed: wholeNumber("seed", only ?? values.seed),
  atOnce: wholeNumber("at-once", values["at-once"]),
  shrink: wholeNumber("shrink", values.shrink),
  log: (line) => console.error(line),
});
console.log(report(result));
// Violations by kube-controller-manager itself are reported, and do not fail the suite.
const { differing, violatedBySubjectAlone, unused } = result;
process.exitCode = differing.length + violatedBySubjectAlone.length + unused.length > 0 ? 1 : 0;
