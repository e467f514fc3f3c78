/**
 * Parses the answers of scripts. If another client may have changed a field in Redis, it falls back to a harmless
 * value: a key rather runs once more than never again.
 */
import { tryParseObjectKey, parseObjectKey } from "@drover/controller";
import { z } from "zod";
import type { LeasedKey } from "./ledger.ts";
import {
  type Arrival,
  type Claim,
  claimRefusals,
  type KeyReport,
  type PastRun,
  outcomeKinds,
} from "../work-queue/work-queue.ts";

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

/** The form of every answer: the incarnation, and the script's own answer. */
export const scriptAnswerSchema = z.tuple([z.string(), z.unknown()]);
export const textsSchema = z.array(z.string());
export const renewalSchema = z.tuple([z.string(), textsSchema, textsSchema]);
export const claimSchema = z.union([
  z.tuple([z.literal("claimed")]).rest(z.string()),
  z.tuple([z.enum(claimRefusals)]),
]);
export const settleSchema = z.union([
  z.tuple([z.literal("stale")]),
  z.tuple([z.literal("settled"), z.number(), textsSchema]).rest(z.string()),
]);
export const dispatchSchema = z.tuple([z.number()]).rest(z.string());
export const timeSchema = z.tuple([z.string(), z.number(), z.number()]);
export const notRunSchema = z.tuple([z.number()]).rest(z.string());
const number = z.number();
export const countsSchema = z.tuple([number, number, number, number, number, number, number, number, number]);

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
    isFirst: z.literal(true).optional(),
  })
  .catch({ fails: 0, reasons: [], class: "change", versions: {} });

/**
 * Parses a claim. An empty `cachedObject` means none; `lists` contains the lists and their deltas, separated by tabs, or
 * is empty.
 */
function parseClaim(text: string, cachedObject = "", lists = ""): Claim {
  const [stored = "", ...deltas] = lists.split("\t");
  return {
    ...claimJson.parse(json(text)),
    ...(cachedObject !== "" && { cachedObject }),
    ...(stored !== "" && { cachedLists: { stored, deltas: deltas.sort() } }),
  };
}

/**
 * Parses leased keys: of each `slot, token, askedAt, key, claim, cached object, lists`.
 *
 * @param onForeignMember called with a text that is not an object key: another client wrote it.
 */
export function parseLeasedKeys(
  flat: readonly string[],
  arrival: Arrival,
  onForeignMember: (member: string) => void,
): readonly LeasedKey[] {
  const all: LeasedKey[] = [];
  for (let i = 0; i + 6 < flat.length; i += 7) {
    const [slot = "", token = "", askedAt, member = "", json = "", cachedObject, lists] = flat.slice(
      i,
      i + 7,
    );
    const key = tryParseObjectKey(member);
    const claim = parseClaim(json, cachedObject, lists);
    if (key === undefined) onForeignMember(member);
    else all.push({ slot, token, askedAt: Number(askedAt), key, claim, arrival });
  }
  return all;
}

const reportJson = z.object({
  key: z.string().transform(parseObjectKey),
  state: z.enum(["waits", "ready", "dispatched", "leased", "parked", "paused", "idle"]).catch("idle"),
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

export function parseKeyReport(text: string): KeyReport {
  const { known, opens, reasons = [], state, ...rest } = reportJson.parse(json(text));
  return { ...rest, reasons, state: known ? state : "unknown", accountOpens: opens };
}

/** Parses the report of a set member. Empty if the member is not an object key: another client added it. */
export function parseListedReport(text: string): readonly KeyReport[] {
  const { key } = z.object({ key: z.string() }).parse(json(text));
  return tryParseObjectKey(key) === undefined ? [] : [parseKeyReport(text)];
}

/** The latest time of a Date, ms since 1970. */
const latest = 8.64e15;
const pastRunSchema = z.object({
  at: z
    .int()
    .min(0)
    .max(latest)
    .transform((ms) => new Date(ms).toISOString()),
  trigger: z.array(z.string()),
  duration: z.number(),
  verdict: z.enum(outcomeKinds),
  error: z.string().optional(),
  trace: z.string().optional(),
});

/** Parses a past run. Empty if the text is not one. */
export function parsePastRun(text: string): readonly PastRun[] {
  const parsed = pastRunSchema.safeParse(json(text));
  return parsed.success ? [parsed.data] : [];
}
