import type { Milliseconds } from "@drover/controller";

const units: readonly (readonly [Milliseconds, string])[] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "m"],
  [1_000, "s"],
];

/** A rounded duration, formatted like kubectl's ages: `350ms`, `12s`, `3m`, `5h`, `2d`. */
export function shortDuration(span: Milliseconds): string {
  if (span < 1_000) return `${Math.max(0, Math.round(span))}ms`;
  const [size, unit] = units.find(([each]) => span >= 2 * each) ?? [1_000, "s"];
  return `${Math.floor(span / size)}${unit}`;
}
