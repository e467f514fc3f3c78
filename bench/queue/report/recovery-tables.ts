import { type Outcome, titles } from "../contenders/contender.ts";
import { percentile } from "../../../verification/harness/spread.ts";
import type { Results } from "../results.ts";
import { figure, table } from "../../report/markdown.ts";

/** Every measured span in one row each: the percentiles that a promise is about. */
const spansOf = (spans: readonly number[]): string[] => [
  String(spans.length),
  ...[50, 99, 100].map((percent) => figure(percentile(spans, percent))),
];

/** A row for each contender whose processes or server were killed. */
export const afterKills = (figures: Results["takeover"] | Results["redisBack"]): string =>
  table(
    ["", "kills", "p50", "p99", "max"],
    figures.map(({ contender, spans }) => [titles[contender], ...spansOf(spans)]),
  );

const asked: Readonly<Record<Outcome, string>> = {
  done: "succeeds",
  failed: "fails, backoff 1 s",
  later: "asks to be run again in 1 s",
};

const order = Object.keys(asked);

export const wakeDuringRun = ({ wakeDuringRun }: Results): string =>
  table(
    ["the run", "", "keys", "p50", "p99", "max", "runs per key"],
    wakeDuringRun
      .toSorted((a, b) => order.indexOf(a.outcome) - order.indexOf(b.outcome))
      .map(({ contender, outcome, spans, runsPerKey }) => [
        asked[outcome],
        titles[contender],
        ...spansOf(spans),
        figure(runsPerKey),
      ]),
    2,
  );
