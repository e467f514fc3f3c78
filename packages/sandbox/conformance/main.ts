/**
 * The same requests to a sandbox and to a real API server, and where their answers differ.
 *
 * ```
 * npm run conformance
 * npm run conformance -- --only patches --sequences 0
 * npm run conformance -- --sequences 20000 --seed 7
 * ```
 */
import { parseArgs } from "node:util";
import { report, runSuite } from "./suite.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    sequences: { type: "string", default: "300" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});

function whole(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`--${name} is a whole number, not ${text}.`);
  return value;
}

const result = await runSuite({
  only: values.only,
  sequences: whole("sequences", values.sequences),
  seed: whole("seed", values.seed),
});
console.log(report(result));
const { failed, unused, sequences } = result;
process.exitCode = failed.length + unused.length + sequences.differing.length > 0 ? 1 : 0;
