/**
 * # Is any forged message accepted?
 *
 *     node verification/forgeries/main.ts [--count 1000000] [--seed 1] [--http] [--fault "trims the body"]
 *
 * Changes one signed byte, header or time of calls, answers, completions and hook events, or sends one in the place of
 * another, against the verifiers that ship; with `--http` through their listeners, and the gateway's client. Exits with 1 when one is accepted. With `--fault` the verifiers have a fault, and
 * it exits with 1 when that is not found; `weak.ts` has the faults.
 */
import { parseArgs } from "node:util";
import { wholeNumber } from "../harness/whole-number.ts";
import { countForgeries } from "./count-forgeries.ts";
import { allFaults } from "./weak.ts";

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "1000000" },
    seed: { type: "string", default: "1" },
    http: { type: "boolean", default: false },
    fault: { type: "string" },
  },
});
const fault = allFaults.find((each) => each === values.fault);
if (values.fault !== undefined && fault === undefined) {
  console.error(`There is no such fault. Give one of:\n  ${allFaults.join("\n  ")}`);
  process.exit(2);
}
const counting = {
  count: wholeNumber("count", values.count, 1),
  seed: wholeNumber("seed", values.seed),
  isOverHttp: values.http,
  fault,
};
const { made, ways, accepted } = await countForgeries(counting);
for (const [name, count] of made) console.log(`${String(count).padStart(9)}  ${name}`);
for (const line of accepted.slice(0, 10)) console.log(`ACCEPTED  ${line}`);
console.log(`${counting.count} forged in ${ways} ways by seed ${counting.seed}, ${accepted.length} accepted`);
process.exitCode = accepted.length > 0 === (fault === undefined) ? 1 : 0;
