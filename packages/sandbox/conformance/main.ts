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
  },
});

const result = await runSuite({ only: values.only });
console.log(report(result));
process.exitCode = result.failed.length > 0 ? 1 : 0;
