import { z } from "zod";

/** `intstr.IntOrString`: a number, or a percentage such as `25%`. */
export const intOrPercentSchema = z.union([z.int(), z.string().regex(/^\d+%$/)]);
export type IntOrPercent = z.output<typeof intOrPercentSchema>;

/** The number for this `total`; a percentage is rounded up or down. */
export function scaledValue(value: IntOrPercent, total: number, round: "up" | "down"): number {
  if (typeof value === "number") return value;
  const part = (Number(value.slice(0, -1)) * total) / 100;
  return round === "up" ? Math.ceil(part) : Math.floor(part);
}
