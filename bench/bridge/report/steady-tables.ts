import { figure, table } from "../../report/markdown.ts";
import { spans, type SteadyFigures } from "../questions/steady.ts";
import type { LagFigures } from "../measures/lags.ts";
import { count, mib } from "./units.ts";

const three = ({ p50, p99, max }: LagFigures): string[] => [p50, p99, max].map((ms) => figure(ms));

export function lags({ parts, all }: SteadyFigures): string {
  const [first, last] = parts;
  return table(
    ["ms", "first: p50", "p99", "max", "last: p50", "p99", "max", "changes never seen"],
    spans.map((span) => [
      span,
      ...(first === undefined ? [] : three(first.lags[span])),
      ...(last === undefined ? [] : three(last.lags[span])),
      count(all[span].lost),
    ]),
  );
}

export const steadyCpu = ({ cpu }: SteadyFigures): string =>
  table(
    ["", "CPU µs per change"],
    Object.entries(cpu).map(([name, microseconds]) => [name, figure(microseconds)]),
  );

export function steadyMemory({ parts }: SteadyFigures): string {
  const [first, last] = parts;
  return table(
    ["highest, MiB", "first: RSS", "PSS", "last: RSS", "PSS"],
    Object.keys(first?.memory ?? {}).map((name) => [
      name,
      ...[first, last].flatMap((part) => [mib(part?.memory[name]?.rss), mib(part?.memory[name]?.pss)]),
    ]),
  );
}
