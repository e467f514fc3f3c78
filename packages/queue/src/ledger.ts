import { type Milliseconds, type ObjectKey, parseObjectKey } from "@drover/controller";
import type { Redis } from "ioredis";
import { z } from "zod";
import type { Bell } from "./bells.ts";
import { runScript, type Script, type ScriptArguments } from "./script.ts";
import { claim as claimScript } from "./scripts/claim.ts";
import { renew as renewScript } from "./scripts/renew.ts";
import { count, ring as ringScript, ringAgain, unanswered } from "./scripts/ring.ts";
import { settle as settleScript } from "./scripts/settle.ts";
import { wake as wakeScript } from "./scripts/wake.ts";
import type { Claim, QueueStats, Refusal, Verdict, Wake } from "./work-queue.ts";

/** How a ledger keeps time. */
export interface LedgerTimes {
  /** How long a claim holds without being renewed. */
  readonly lease: Milliseconds;
  /** The first backoff window; each next one is twice as long. */
  readonly firstBackoff: Milliseconds;
  /** The longest backoff window. */
  readonly longestBackoff: Milliseconds;
}

export interface LedgerOptions extends LedgerTimes {
  readonly redis: Redis;
  /** Holds one controller's keys in one hash slot, such as `{drover:buckets.s3.drover.dev}`. */
  readonly prefix: string;
  /** Bells outstanding at most. */
  readonly bellLimit: number;
  /** Stands in for Redis time where a test holds the clock. */
  readonly now?: () => Milliseconds;
  /** In [0, 1): spreads backoff. */
  readonly random?: () => number;
}

/** What a claim was answered. */
export type ClaimAnswer = { readonly claimed: Claim } | { readonly refused: Refusal };

/** What a settle was answered: `due` is the time until the key runs again, when that is known. */
export type SettleAnswer =
  | { readonly kind: "settled"; readonly dueIn: Milliseconds | undefined; readonly bells: readonly Bell[] }
  | { readonly kind: "stale" };

/** The truth about one controller's keys, in Redis. Every method is one script: it happens whole or not at all. */
export interface Ledger {
  wake(wakes: readonly Wake[]): Promise<readonly Bell[]>;
  claim(key: ObjectKey, token: string): Promise<ClaimAnswer>;
  /** Whether the lease is still the token's, and now lasts from now on. */
  renew(key: ObjectKey, token: string): Promise<boolean>;
  settle(key: ObjectKey, token: string, verdict: Verdict): Promise<SettleAnswer>;
  /** Take back expired leases and ring for what is due; `next` is the time until the next key becomes due. */
  ring(): Promise<{ readonly next: Milliseconds | undefined; readonly bells: readonly Bell[] }>;
  /** Bells rung longer than `patience` ago that no claim has answered. */
  unanswered(patience: Milliseconds): Promise<readonly Bell[]>;
  ringAgain(bell: Bell): Promise<void>;
  count(): Promise<QueueStats>;
}

const answerKept: Milliseconds = 60_000;

const key = z.string().transform(parseObjectKey);
const wakeClass = z.enum(["change", "listing", "resync"]);
const claimed = z.object({
  fails: z.number(),
  reasons: z
    .string()
    .transform((text): unknown => JSON.parse(text))
    .pipe(z.array(z.string())),
  class: wakeClass,
  uid: z.string().optional(),
  // Lua's empty table is written as a list.
  versions: z
    .record(z.string(), z.string())
    .or(z.array(z.never()).transform((): Record<string, string> => ({}))),
});
const claimAnswer = z.union([
  z.tuple([z.literal("claimed"), z.string()]),
  z.tuple([z.enum(["leased", "parked", "waiting", "nothing due"])]),
]);
const bellList = z.array(z.string()).transform((flat) => triples(flat));
const settleAnswer = z.union([
  z.tuple([z.literal("stale")]),
  z.tuple([z.literal("settled"), z.number()]).rest(z.string()),
]);
const ringAnswer = z.tuple([z.number()]).rest(z.string());
const counts = z.tuple([z.number(), z.number(), z.number(), z.number(), z.number()]);

export function openLedger(options: LedgerOptions): Ledger {
  const { redis, prefix, bellLimit, lease, random = Math.random } = options;
  const now = (): string => (options.now === undefined ? "" : String(options.now()));
  const backoff = () => ({ first: options.firstBackoff, most: options.longestBackoff, jitter: random() });
  const run = <Name extends string>(script: Script<Name>, values: ScriptArguments<Name>): Promise<unknown> =>
    runScript(redis, script, prefix, values);
  return {
    async wake(wakes) {
      return bellList.parse(await run(wakeScript, { now: now(), bellLimit, wakes: JSON.stringify(wakes) }));
    },
    async claim(key, token) {
      const [outcome, json] = claimAnswer.parse(
        await run(claimScript, { now: now(), key, token, lease, ...backoff() }),
      );
      if (outcome !== "claimed") return { refused: outcome };
      const { uid, ...rest } = claimed.parse(JSON.parse(json));
      return { claimed: uid === undefined ? rest : { ...rest, uid } };
    },
    renew: async (key, token) => (await run(renewScript, { now: now(), key, token, lease })) === 1,
    async settle(key, token, verdict) {
      const after = "after" in verdict ? Math.ceil(verdict.after ?? 0) : "";
      const values = { now: now(), bellLimit, key, token, verdict: verdict.kind, after, forget: answerKept };
      const [kind, dueIn, ...bells] = settleAnswer.parse(
        await run(settleScript, { ...values, ...backoff() }),
      );
      if (kind === "stale") return { kind };
      return { kind, dueIn: known(dueIn), bells: triples(bells) };
    },
    async ring() {
      const [next, ...bells] = ringAnswer.parse(
        await run(ringScript, { now: now(), bellLimit, ...backoff() }),
      );
      return { next: known(next), bells: triples(bells) };
    },
    async unanswered(patience) {
      return bellList.parse(await run(unanswered, { now: now(), patience }));
    },
    async ringAgain(bell) {
      await run(ringAgain, { now: now(), key: bell.key, bell: bell.number });
    },
    async count() {
      const [due, oldestDue, scheduled, running, parked] = counts.parse(await run(count, { now: now() }));
      return { due, oldestDue, scheduled, running, parked };
    },
  };
}

const known = (span: number): Milliseconds | undefined => (span < 0 ? undefined : span);

function triples(flat: readonly string[]): readonly Bell[] {
  const bells: Bell[] = [];
  for (let i = 0; i + 2 < flat.length; i += 3) {
    bells.push({ key: key.parse(flat[i]), number: flat[i + 1] ?? "", class: wakeClass.parse(flat[i + 2]) });
  }
  return bells;
}
