import { z } from "zod";
import { checkedAtRun } from "./structural/checks.ts";

/** Milliseconds: the unit of every span of time inside Drover. Users write `Duration`s. */
export type Milliseconds = number;

/** A span of time as users write it: a number and a unit, such as `500ms`, `30s`, `10m`, `1h30m`. */
export type Duration = string;

/**
 * The longest span that is accepted: 2^31-1 ms, almost 25 days. `setTimeout` and several Redis clients overflow
 * beyond it, and an overflowing timer fires at once: a hot loop.
 */
export const maxDuration: Milliseconds = 2 ** 31 - 1;

const units: Readonly<Record<string, Milliseconds>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const durationPattern = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/;
/**
 * Maximum number of characters of a written duration. Longer text is refused before any pattern is applied to it,
 * because a duration may come from an untrusted source.
 */
const maxTextLength = 64;

/**
 * Parses a written duration to milliseconds.
 * @throws InvalidDurationError for anything else: a bare number, a sign, NaN, or more than {@link maxDuration}.
 */
export function parseDuration(text: Duration): Milliseconds {
  const problem = durationProblem(text);
  if (problem !== undefined) throw new InvalidDurationError(problem);
  return totalMilliseconds(text);
}

/** A span as users write it, in the largest unit that divides it without remainder. `36000000` is `10h`. */
export function formatDuration(span: Milliseconds): Duration {
  const whole = Math.round(span);
  const fitting = Object.entries(units).filter(([, unit]) => whole >= unit && whole % unit === 0);
  const [unit, size] = fitting.at(-1) ?? ["ms", 1];
  return `${whole / size}${unit}`;
}

/**
 * A duration in a spec, a status, a configuration or an answer: a string with a unit. Length, shape and sum are checked
 * in this order: each check runs only on text that passed the one before it.
 */
export const durationSchema = z
  .string()
  .max(maxTextLength, { error: ({ input }) => durationProblem(input) ?? notADuration(input), abort: true })
  .regex(durationPattern, {
    error: ({ input }) => durationProblem(input) ?? notADuration(input),
    abort: true,
  })
  .refine((text) => totalMilliseconds(text) <= maxDuration, {
    error: (issue) => tooLong(String(issue.input)),
    ...checkedAtRun,
  })
  .meta({ description: 'A span of time: a number and a unit, such as "500ms", "30s", "10m" or "1h30m".' });

/** A duration that cannot be used. The message contains the correct form. */
export class InvalidDurationError extends Error {
  override readonly name = "InvalidDurationError";
}

/** @param given any value: code without type checks may also pass NaN, 5 or undefined. */
function durationProblem(given: unknown): string | undefined {
  const value = typeof given === "number" ? String(given) : given;
  if (typeof value !== "string") return notADuration(value);
  if (value.length > maxTextLength) {
    return `${quoted(value)} has ${value.length} characters; a duration has at most ${maxTextLength}. Write one such as "30s".`;
  }
  if (/^\d+(\.\d+)?$/.test(value))
    return `${quoted(value)} has no unit. Write ${quoted(`${value}s`)} if seconds are meant.`;
  if (!durationPattern.test(value)) return notADuration(value);
  return totalMilliseconds(value) > maxDuration ? tooLong(value) : undefined;
}

const notADuration = (value: unknown): string =>
  `${quoted(value)} is not a duration. Write a number and a unit: "500ms", "30s", "10m", "1h30m".`;

const tooLong = (text: string): string =>
  `${quoted(text)} is longer than 24 days, the most that a timer holds. Write less.`;

const quoted = (text: unknown): string => JSON.stringify(String(text).slice(0, 80));

/**
 * @param text of the right shape and length. The pattern is sticky: each match starts where the last one ended, so the
 *   text is scanned only once.
 */
function totalMilliseconds(text: string): Milliseconds {
  const parts = text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/gy);
  return Math.round(
    parts.reduce((total, [, amount, unit]) => total + Number(amount) * (units[unit ?? ""] ?? NaN), 0),
  );
}

/**
 * The current time by a server's own clock, from its `Date` header; by the local clock if the header is missing. Dates
 * of the server are compared with it, because the two clocks may differ by minutes.
 *
 * @returns milliseconds since 1970
 */
export function serverTime(date: string | undefined): Milliseconds {
  const time = Date.parse(date ?? "");
  return Number.isNaN(time) ? Date.now() : time;
}
