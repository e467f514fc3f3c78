/**
 * # Do strangers' bytes cost linear work?
 *
 *     node verification/strangers/main.ts [--only answer] [--shown 20]
 *
 * Measures every reader that strangers reach at its worst inputs, and compares the times for 4 KiB, 64 KiB and 1 MiB in the
 * same run. Exits with 1 when 16 times the bytes cost more than 32 times as much anywhere.
 */
import { parseArgs } from "node:util";
import { wholeNumber } from "../harness/whole-number.ts";
import { mostRatio, ratioOf } from "./measure.ts";
import { everyReader } from "./readers.ts";

const { values } = parseArgs({
  options: { only: { type: "string", default: "" }, shown: { type: "string", default: "20" } },
});
const subjects = everyReader.filter(({ name }) => name.startsWith(values.only));
const ratios = subjects.map((subject) => ratioOf(subject)).toSorted((a, b) => b.ratio - a.ratio);
for (const { name, ratio, bytes } of ratios.slice(0, wholeNumber("shown", values.shown))) {
  console.log(`${ratio.toFixed(1).padStart(7)}x  ${bytes.join(" -> ")} bytes  ${name}`);
}
const bad = ratios.filter(({ ratio }) => ratio > mostRatio);
console.log(
  `${ratios.length} inputs of readers that strangers reach, ${bad.length} cost more than ${mostRatio}x`,
);
process.exitCode = bad.length > 0 || ratios.length === 0 ? 1 : 0;
