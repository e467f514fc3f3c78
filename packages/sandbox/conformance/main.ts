/**
 * Sends the same requests to a sandbox and to a real API server, and prints the differences of their answers.
 *
 * ```
 * npm run conformance
 * npm run conformance -- --only patches --sequences 0
 * npm run conformance -- --sequences 20000 --seed 7
 * npm run conformance -- --only none --sequences 0 --rules 20
 * ```
 */
import { parseArgs } from "node:util";
import { wholeNumber } from "../../../verification/harness/whole-number.ts";
import { report, runSuite } from "./suite.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    sequences: { type: "string", default: "300" },
    rules: { type: "string", default: "5" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});

const result = await runSuite({
  only: values.only,
  sequences: wholeNumber("sequences", values.sequences),
  rules: wholeNumber("rules", values.rules),
  seed: wholeNumber("seed", values.seed),
});
console.log(report(result));
const { failed, unused, sequences, rules } = result;
process.exitCode =
  failed.length + unused.length + sequences.differing.length + rules.found.length > 0 ? 1 : 0;
