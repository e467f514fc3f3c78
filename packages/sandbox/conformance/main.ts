/**
 * Sends the same requests to a sandbox and to a real API server, and prints the differences of their answers.
 *
 * ```
 * npm run conformance
 * npm run conformance -- --only patches --sequences 0
 * npm run conformance -- --sequences 20000 --seed 7
 * ```
 */
import { parseArgs } from "node:util";
import { wholeNumber } from "../../../verification/harness/whole-number.ts";
import { report, runSuite } from "./suite.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    sequences: { type: "string", default: "300" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});

const result = await runSuite({
  only: values.only,
  sequences: wholeNumber("sequences", values.sequences),
  seed: wholeNumber("seed", values.seed),
});
console.log(report(result));
const { failed, unused, sequences } = result;
process.exitCode = failed.length + unused.length + sequences.differing.length > 0 ? 1 : 0;
