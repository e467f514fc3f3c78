/**
 * # What do exact integers cost?
 *
 * `npm run bench:integers` parses and writes objects with `@drover/json` and with `JSON` alone, in turns in one process, and
 * writes results.md.
 */
import { parseJson, writeJson } from "@drover/json";
import { createHash } from "node:crypto";
import { cpus } from "node:os";
import { writeResults } from "../report/write-report.ts";
import { spread } from "../../verification/harness/spread.ts";
import { podText } from "./pod-text.ts";

const pod = (i: number): string => podText(i, "1000650000");
const exactPod = (i: number): string => podText(i, "9007199254740993");
const page = (items: readonly string[]): string =>
  `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[${items.join()}]}`;
const of500 = (make: (i: number) => string): readonly string[] =>
  Array.from({ length: 500 }, (_, i) => make(i));
const digests = Array.from({ length: 2_000 }, (_, i) => createHash("sha256").update(String(i)).digest("hex"));

const documents: Readonly<Record<string, string>> = {
  "a Pod": pod(1),
  "500 Pods": page(of500(pod)),
  "a ConfigMap of 130 kB of digests": `{"kind":"ConfigMap","data":{"a":"${digests.join(" ")}"}}`,
  "a Pod with one": exactPod(1),
  "500 Pods, one of them with one": page(of500((i) => (i === 250 ? exactPod(i) : pod(i)))),
  "500 Pods with one each": page(of500(exactPod)),
};

/** Microseconds of one call, each of the two called in turns; the median of the rounds. */
function measured(ours: () => unknown, plain: () => unknown, times: number) {
  const timed = (call: () => unknown): number => {
    const begun = process.hrtime.bigint();
    for (let i = 0; i < times; i++) call();
    return Number(process.hrtime.bigint() - begun) / times / 1e3;
  };
  for (const call of [ours, plain, ours, plain]) timed(call); // warm
  const rounds = Array.from({ length: 15 }, () => ({ ours: timed(ours), plain: timed(plain) }));
  const ratios = rounds.map(({ ours, plain }) => ours / plain);
  return { plain: median(rounds.map(({ plain }) => plain)), ratio: median(ratios) };
}

const median = (all: readonly number[]): number => spread(all).median;

const rows = Object.entries(documents).map(([name, text]) => {
  const times = Math.ceil(2_000_000 / text.length);
  const value = parseJson(text);
  // JSON.stringify takes no BigInt: for such a document it writes the rounded value.
  const rounded: unknown = / one/.test(name) ? JSON.parse(text) : value;
  const reading = measured(
    () => parseJson(text),
    () => JSON.parse(text) as unknown,
    times,
  );
  const writing = measured(
    () => writeJson(value),
    () => JSON.stringify(rounded),
    times,
  );
  const cells = [
    name,
    text.length,
    ...[reading, writing].flatMap(({ plain, ratio }) => [plain.toFixed(1), ratio.toFixed(2)]),
  ];
  return `| ${cells.join(" | ")} |`;
});

const table = `<!-- Written by npm run bench:integers. -->

# What exact integers cost

Node ${process.versions.node}, ${cpus().length} × ${cpus()[0]?.model ?? "a processor"}. "One" is an integer beyond 2^53. Microseconds
are \`JSON\`'s own; the ratios are those of \`@drover/json\` to it, medians of 15 rounds in turns.

| document | characters | JSON.parse, µs | parseJson, ratio | JSON.stringify, µs | writeJson, ratio |
| --- | ---: | ---: | ---: | ---: | ---: |
${rows.join("\n")}
`;
console.log(table);
await writeResults(table, import.meta.dirname);
