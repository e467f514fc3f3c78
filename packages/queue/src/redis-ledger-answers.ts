/**
 * Parses the answers of scripts. If another client may have changed a field in Redis, it falls back to a harmless
 * value: a key rather runs once more than never again.
 */
import { objectKeyIn, parseObjectKey } from "@drover/controller";
import { z } from "zod";
import type { ClaimAnswer, Given } from "./ledger.ts";
import { type Claim, type KeyReport, type PastRun, verdictKinds } from "./work-queue.ts";

/** Undefined if the text is not JSON. */
function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
const wakeClass = z.enum(["change", "listing", "resync"]).catch("change");
const reasons = z.string().transform(json).pipe(z.array(z.string())).catch([]);

/** The form of every answer: the era, and the script's own answer. */
export const every = z.tuple([z.string(), z.unknown()]);
export const texts = z.array(z.string());
export const renewal = z.tuple([z.string(), texts, texts]);
export const claim = z.union([
  z.tuple([z.literal("claimed"), z.string(), z.string(), z.string()]),
  z.tuple([
    z.enum([
      "leased",
      "parked",
      "waiting",
      "nothing due",
      "not its turn",
      "paused",
      "throttled",
      "outdated",
      "settling",
      "slot taken",
    ]),
  ]),
]);
/** The chained key, its claim, a cached object, and lists of other objects. */
const handed = z.union([z.tuple([z.string(), z.string(), z.string(), z.string()]), z.tuple([])]);
export type Handed = z.infer<typeof handed>;
export const settle = z.union([
  z.tuple([z.literal("stale")]),
  z.tuple([z.literal("settled"), z.number(), handed]).rest(z.string()),
]);
export const ring = z.tuple([z.number()]).rest(z.string());
export const moment = z.tuple([z.string(), z.number(), z.number()]);
export const notRun = z.tuple([z.number()]).rest(z.string());
const number = z.number();
export const counts = z.tuple([number, number, number, number, number, number, number, number, number]);

const claimJson = z
  .object({
    fails: z.number(),
    reasons,
    class: wakeClass,
    uid: z.string().optional(),
    replaced: z.string().optional(),
    trace: z.string().optional(),
    // This version of cjson writes an empty Lua table as an object; others write a list.
    versions: z
      .record(z.string(), z.string())
      .or(z.array(z.never()).transform((): Record<string, string> => ({}))),
  })
  .catch({ fails: 0, reasons: [], class: "change", versions: {} });

export const claimAnswer = ([outcome, json, copy, lists]: z.infer<typeof claim>): ClaimAnswer =>
  outcome === "claimed" ? { claimed: claimed(json, copy, lists) } : { refused: outcome };

/**
 * Parses a claim. An empty `copy` means none; `lists` contains the lists and their deltas, separated by tabs, or is
 * empty.
 */
export function claimed(text: string, copy = "", lists = ""): Claim {
  const [left = "", ...news] = lists.split("\t");
  return {
    ...claimJson.parse(json(text)),
    ...(copy !== "" && { copy }),
    ...(left !== "" && { lists: { left, news: news.sort() } }),
  };
}

/** Parses assigned keys: `slot, token, askedAt, key, claim, copy, lists, ...`. */
export function given(flat: readonly string[], onStranger: (member: string) => void): readonly Given[] {
  const all: Given[] = [];
  for (let i = 0; i + 6 < flat.length; i += 7) {
    const [slot = "", token = "", askedAt, member = "", json = "", copy, lists] = flat.slice(i, i + 7);
    const key = objectKeyIn(member);
    if (key === undefined) onStranger(member);
    else all.push({ slot, token, askedAt: Number(askedAt), key, claim: claimed(json, copy, lists) });
  }
  return all;
}

const reportJson = z.object({
  key: z.string().transform(parseObjectKey),
  state: z.enum(["waits", "ready", "rung", "leased", "parked", "paused", "idle"]).catch("idle"),
  known: z.boolean(),
  at: z.number(),
  class: wakeClass.optional(),
  reasons: reasons.optional(),
  why: z.string().optional(),
  error: z.string().optional(),
  fails: z.number(),
  uid: z.string().optional(),
  account: z.string().optional(),
  opens: z.number(),
  // cjson writes an empty Lua table as an object.
  pauses: z
    .array(z.tuple([z.enum(["controller", "namespace", "object", "annotation"]), z.number(), z.string()]))
    .catch([])
    .transform((all) => all.map(([scope, since, by]) => ({ scope, since, by }))),
});

export function report(text: string): KeyReport {
  const { known, opens, reasons = [], state, ...rest } = reportJson.parse(json(text));
  return { ...rest, reasons, state: known ? state : "unknown", accountOpens: opens };
}

/** Parses the report of a set member. Empty if the member is not an object key: another client added it. */
export function listedReport(text: string): readonly KeyReport[] {
  const { key } = z.object({ key: z.string() }).parse(json(text));
  return objectKeyIn(key) === undefined ? [] : [report(text)];
}

/** The latest time of a Date, ms since 1970. */
const latest = 8.64e15;
const run = z.object({
  at: z
    .int()
    .min(0)
    .max(latest)
    .transform((ms) => new Date(ms).toISOString()),
  trigger: z.array(z.string()),
  duration: z.number(),
  verdict: z.enum(verdictKinds),
  error: z.string().optional(),
  trace: z.string().optional(),
});

/** Parses a past run. Empty if the text is not one. */
export function pastRun(text: string): readonly PastRun[] {
  const parsed = run.safeParse(json(text));
  return parsed.success ? [parsed.data] : [];
}
