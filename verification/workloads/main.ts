/**
 * The same user actions with kube-controller-manager's controllers for a family of kinds and with ours, or others, in
 * their place, and where what comes of it differs.
 *
 * ```
 * npm run workloads -- --sequences 300 --seed 7     # Deployments and ReplicaSets
 * npm run workloads -- --family jobs
 * npm run workloads -- --in-one-process             # all of ours in one process
 * npm run workloads -- --family cronjobs --sequences 40   # in real minutes
 * npm run workloads -- --only 1156                  # one sequence again
 * npm run workloads -- --self                       # kube-controller-manager against itself
 * ```
 */
import { parseArgs } from "node:util";
import { wholeNumber } from "../harness/whole-number.ts";
import { familyNamed } from "./families.ts";
import { usualOptions } from "./family.ts";
import { report } from "./report.ts";
import { none, reference, subjectOf } from "./subjects.ts";
import { runSuite } from "./suite.ts";

const { values } = parseArgs({
  options: {
    family: { type: "string", default: "deployments" },
    sequences: { type: "string", default: "300" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    only: { type: "string" },
    self: { type: "boolean", default: false },
    none: { type: "boolean", default: false },
    "in-one-process": { type: "boolean", default: false },
    subject: { type: "string" },
    "at-once": { type: "string" },
    shrink: { type: "string" },
    repeat: { type: "string" },
  },
});

const { only, self, subject } = values;
const family = familyNamed(values.family);
const defaults = family.defaults ?? usualOptions;
const options = { inOneProcess: values["in-one-process"] };
const chosen = self ? reference : values.none ? none(family) : await subjectOf(family, subject, options);
const result = await runSuite({
  family,
  subject: chosen,
  sequences: only === undefined ? wholeNumber("sequences", values.sequences) : 1,
  seed: wholeNumber("seed", only ?? values.seed),
  atOnce: wholeNumber("at-once", values["at-once"] ?? String(defaults.atOnce)),
  shrink: wholeNumber("shrink", values.shrink ?? String(defaults.shrink)),
  repeat: wholeNumber("repeat", values.repeat ?? String(defaults.repeat)),
  log: (line) => console.error(line),
});
console.log(report(result));
// Violations by kube-controller-manager itself are reported, and do not fail the suite.
const { differing, violatedBySubjectAlone, unused } = result;
process.exitCode = differing.length + violatedBySubjectAlone.length + unused.length > 0 ? 1 : 0;
