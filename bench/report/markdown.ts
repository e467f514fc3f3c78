import type { Spread } from "../../verification/harness/spread.ts";

export type Cell = string | number;

/** A Markdown table; the first `names` columns are text, the others figures. */
export function table(head: readonly string[], rows: readonly (readonly Cell[])[], names = 1): string {
  const line = (cells: readonly Cell[]): string => `| ${cells.join(" | ")} |`;
  return [
    line(head),
    line(head.map((_, i) => (i < names ? "---" : "---:"))),
    ...rows.map((cells) => line(cells)),
  ].join("\n");
}

/** Three digits that mean something, and thousands apart. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return "-";
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.max(Math.abs(value), 1e-9))));
  return value.toLocaleString("en", { maximumFractionDigits: Math.min(digits, 2) });
}

/** A table of counts by name: a row for each name, a column for each of `counts`. */
export function countTable(
  columns: readonly string[],
  counts: readonly Readonly<Record<string, number>>[],
): string {
  const names = [...new Set(counts.flatMap((each) => Object.keys(each)))].sort();
  return table(
    ["", ...columns],
    names.map((name) => [name, ...counts.map((each) => figure(each[name] ?? 0))]),
  );
}

/** `min / **median** / max` */
export const range = ({ min, median, max }: Spread): string =>
  min === max ? `**${figure(median)}**` : `${figure(min)} / **${figure(median)}** / ${figure(max)}`;

/** A figure that is wanted, and the one that was found. */
export interface Goal {
  readonly what: string;
  readonly wanted: string;
  readonly found: string;
  readonly met: boolean;
}

export const goalTable = (goals: readonly Goal[]): string =>
  table(
    ["goal", "wanted", "found", "met"],
    goals.map(({ what, wanted, found, met }) => [what, wanted, found, met ? "yes" : "**no**"]),
    2,
  );
