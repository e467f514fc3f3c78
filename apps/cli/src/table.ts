import { oneLine } from "@drover/controller";

/** Headings and rows, with each column as wide as its widest cell. */
export const table = (headings: readonly string[], rows: readonly (readonly string[])[]): readonly string[] =>
  pagedTable(headings)(rows);

/** A table that is printed page by page: a column never gets narrower than on the previous page. */
export function pagedTable(
  headings: readonly string[],
): (rows: readonly (readonly string[])[]) => readonly string[] {
  let widths = headings.map(() => 0);
  let isFirst = true;
  return (rows) => {
    const all = [...(isFirst ? [headings] : []), ...rows].map((row) => row.map(oneLine));
    isFirst = false;
    widths = widths.map((width, column) =>
      all.reduce((widest, row) => Math.max(widest, row[column]?.length ?? 0), width),
    );
    return all.map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("   ")
        .trimEnd(),
    );
  };
}
