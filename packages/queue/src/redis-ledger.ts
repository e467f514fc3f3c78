import { type Milliseconds, type ObjectKey, objectKeyIn, type Rate } from "@drover/controller";
import { z } from "zod";
import type { Bell } from "./bells.ts";
import {
  answerKept,
  type Enlistment,
  errorKept,
  type Given,
  type Ledger,
  type LedgerSurroundings,
  type LedgerTimes,
  type Offers,
  paceUnit,
  pauserKept,
  runsKept,
  type RunRecord,
} from "./ledger.ts";
import type { RedisConnection } from "./redis-connection.ts";
import * as answers from "./redis-ledger-answers.ts";
import { callLua, type LuaArguments } from "./lua.ts";
import type { Script } from "./script.ts";
import { claim } from "./scripts/claim.ts";
import { enlist } from "./scripts/enlist.ts";
import { count, inspect, list, moment, notRunSince, origin } from "./scripts/inspect.ts";
import { offer } from "./scripts/offer.ts";
import { pause } from "./scripts/pause.ts";
import { renew } from "./scripts/renew.ts";
import { discard, repair, repairSets } from "./scripts/repair.ts";
import { ring, ringAgain, unanswered } from "./scripts/ring.ts";
import { settle } from "./scripts/settle.ts";
import { wake } from "./scripts/wake.ts";
import { mostListed } from "./script-bounds.ts";
import { subscribe } from "./subscribe.ts";
import type { Scope, Verdict } from "./work-queue.ts";

export interface RedisLedgerOptions extends LedgerTimes, LedgerSurroundings {
  readonly redis: RedisConnection;
  /**
   * Prefix of one controller's Redis keys; its hash tag puts them into one hash slot: `{drover:buckets.s3.drover.dev}`.
   */
  readonly prefix: string;
  /** Called with the first era, and with every later one: a new era means that acknowledged writes may be lost. */
  readonly onEra?: (era: string) => void;
  /** Replaces a script, for tests that look into it. */
  readonly instrument?: <Name extends string>(script: Script<Name>) => Script<Name>;
}

/** The ledger in Redis: every call runs one script, `renew` one per 1,000 leases. */
export interface RedisLedger extends Ledger {
  /** Checks the Redis keys that every ledger has, repairs what another client changed, and returns what was wrong. */
  repairSets(): Promise<readonly string[]>;
  /** Does the same with some of the ledger's Redis keys. Redis serves no other client meanwhile, so pass few. */
  repair(names: readonly string[]): Promise<readonly string[]>;
}

export function openRedisLedger(options: RedisLedgerOptions): RedisLedger {
  const run = caller(options);
  const jitter = options.random ?? Math.random;
  const { bellsOf, handedOf, givenOf } = parsing((member) => run(discard, { member }, z.unknown()));
  const hold = async (scope: Scope, on: 0 | 1, by = ""): Promise<readonly Bell[]> =>
    bellsOf(await run(pause, { scope: nameOf(scope), on, by: by.slice(0, pauserKept) }, answers.texts));
  return {
    async wake(wakes, force = false) {
      const told = force ? wakes.map((one) => ({ ...one, force })) : wakes;
      return bellsOf(await run(wake, { wakes: JSON.stringify(told) }, answers.texts));
    },
    async claim(key, token, version = 0) {
      const values = { key, token, version, jitter: jitter() };
      return answers.claimAnswer(await run(claim, values, answers.claim));
    },
    renew: renewing(run),
    async settle(key, token, verdict, record, taker) {
      const { token: next = "", version = 0 } = taker ?? {};
      const { worker = "", askedAt = 0 } = taker?.offeredBy ?? {};
      const values = {
        key,
        token,
        ...told(verdict),
        ...kept(record),
        next,
        worker,
        askedAt,
        version,
        jitter: jitter(),
      };
      const answer = await run(settle, values, answers.settle);
      if (answer[0] === "stale") return { kind: "stale" };
      const [kind, dueIn, handed, ...flat] = answer;
      return { kind, dueIn: known(dueIn), bells: await bellsOf(flat), handed: await handedOf(handed) };
    },
    ...offersOf(options, run, givenOf),
    async ring() {
      const [next, ...flat] = await run(ring, { jitter: jitter() }, answers.ring);
      return { next: known(next), bells: await bellsOf(flat) };
    },
    unanswered: async (patience) => bellsOf(await run(unanswered, { patience }, answers.texts)),
    async ringAgain({ key, number }) {
      await run(ringAgain, { key, bell: number }, z.unknown());
    },
    async enlist(worker) {
      const { slots, version, lasts } = worker;
      const { first, longest: most, attempts = "" } = worker.backoff;
      const values = { slots, version, lasts, first, most, attempts, limits: limitsText(worker) };
      await run(enlist, { worker: worker.worker, ...values }, z.unknown());
    },
    pause: (scope, by) => hold(scope, 1, by),
    resume: (scope) => hold(scope, 0),
    ...looksOf(run),
    repairSets: () => run(repairSets, {}, answers.texts),
    repair: (names) => run(repair, { names: JSON.stringify(names) }, answers.texts),
  };
}

type Call = ReturnType<typeof caller>;

/** Renews in batches. Also without leases it makes one call, which may reveal a new era. */
const renewing =
  (run: Call): Ledger["renew"] =>
  async (leases) => {
    const [lost, announced]: [string[], string[]] = [[], []];
    let era = "";
    for (let i = 0; i === 0 || i < leases.length; i += mostListed) {
      const piece = JSON.stringify(leases.slice(i, i + mostListed));
      const [now, these, those] = await run(renew, { leases: piece }, answers.renewal);
      era = now;
      lost.push(...these);
      announced.push(...those);
    }
    return { era, lost, announced };
  };

/** The methods for advertised slots and assigned keys. */
function offersOf(
  { redis, prefix }: RedisLedgerOptions,
  run: Call,
  givenOf: (flat: readonly string[]) => readonly Given[],
): Pick<Ledger, "offer" | "withdraw" | "listen"> {
  const say = async ({ tokens, ...by }: Offers, stands: 0 | 1): Promise<readonly Given[]> =>
    givenOf(await run(offer, { ...by, tokens: JSON.stringify(tokens), stands }, answers.texts));
  return {
    offer: (offers) => say(offers, 1),
    withdraw: (offers) => say(offers, 0),
    listen: (worker, given) =>
      subscribe(redis, `${prefix}:worker:${worker}`, (message) => {
        givenOf(message.split("\n")).forEach(given);
      }),
  };
}

/** The methods that report the state and change no key. */
const looksOf = (
  run: Call,
): Pick<Ledger, "origin" | "moment" | "count" | "notRunSince" | "list" | "inspect"> => ({
  origin: () => run(origin, {}, z.string()),
  async moment() {
    const [era, at, settlesIn] = await run(moment, {}, answers.moment);
    return { era, at, settlesIn };
  },
  async count() {
    const counts = await run(count, {}, answers.counts);
    const [due, oldestDue, scheduled, running, parked, failing, pace, paused, all] = counts;
    const runTime = pace / paceUnit;
    return { due, oldestDue, scheduled, running, parked, failing, runTime, paused, allPaused: all === 1 };
  },
  async notRunSince(of, since) {
    const [now, ...found] = await run(notRunSince, { keys: JSON.stringify(of), since }, answers.notRun);
    return { now, keys: found.flatMap((text) => objectKeyIn(text) ?? []) };
  },
  async list(state, limit, after = "") {
    const [next = "", ...reports] = await run(list, { state, limit, after }, answers.texts);
    return { keys: reports.flatMap(answers.listedReport), next: next === "" ? undefined : next };
  },
  async inspect(key) {
    const [report = "", ...runs] = await run(inspect, { key }, answers.texts);
    return { key: answers.report(report), runs: runs.flatMap(answers.pastRun) };
  },
});

/**
 * Returns a function that runs scripts for one ledger. It adds the common arguments, and calls `onEra` when an answer
 * contains a new era.
 */
function caller({ redis, prefix, lease, settling, now, server, onEra, instrument }: RedisLedgerOptions) {
  let known: string | undefined;
  return async <Name extends string, Answer>(
    script: Script<Name>,
    values: LuaArguments<Name>,
    answer: z.ZodType<Answer>,
  ): Promise<Answer> => {
    const told = { now: now?.() ?? "", server: server?.() ?? "", lease, settling };
    const [era, found] = answers.every.parse(
      await callLua(redis, instrument?.(script) ?? script, prefix, { ...values, ...told }),
    );
    if (era !== known) {
      known = era;
      onEra?.(era);
    }
    return answer.parse(found);
  };
}

/** An outcome as arguments of the settle script. */
function told(
  verdict: Verdict,
): LuaArguments<
  "verdict" | "after" | "account" | "error" | "sawKind" | "sawUid" | "sawVersion" | "sawCopy" | "lists"
> {
  const { kind = "", uid = "", resourceVersion = "", copy = "", lists = "" } = verdict.saw ?? {};
  const after = "after" in verdict ? verdict.after : undefined;
  return {
    verdict: verdict.kind,
    after: after === undefined ? "" : Math.ceil(after),
    account: ("account" in verdict ? verdict.account : undefined) ?? "",
    error: "error" in verdict ? verdict.error.slice(0, errorKept) : "",
    sawKind: kind,
    sawUid: uid,
    sawVersion: resourceVersion,
    sawCopy: copy,
    lists,
  };
}

/** A run's record as arguments of the settle script, and what the script keeps of a key. */
const kept = (run: RunRecord | undefined): LuaArguments<"record" | "ms" | "kept" | "forget"> => ({
  record: run ? JSON.stringify(run) : "",
  ms: run?.duration ?? 0,
  kept: runsKept,
  forget: answerKept,
});

/** Rates by the name of their limit, as JSON for the enlist script. */
const limitsText = ({ runs, accounts }: Pick<Enlistment, "runs" | "accounts">): string =>
  JSON.stringify({
    ...(runs && { controller: bucket(runs) }),
    ...Object.fromEntries(Object.entries(accounts).map(([name, rate]) => [`account ${name}`, bucket(rate)])),
  });

const bucket = ({ perSecond, burst }: Rate) => ({ every: 1_000 / perSecond, burst });

function nameOf(scope: Scope): string {
  switch (scope.kind) {
    case "controller":
      return "controller";
    case "namespace":
      return `namespace ${scope.namespace}`;
    case "object":
      return `object ${scope.key}`;
  }
}

const known = (span: number): Milliseconds | undefined => (span < 0 ? undefined : span);

/** Parses the keys in answers. A member that is not an object key was added by another client, and is discarded. */
function parsing(discarded: (member: string) => Promise<unknown>) {
  const keyOf = async (member: string): Promise<ObjectKey | undefined> => {
    const key = objectKeyIn(member);
    if (key === undefined) await discarded(member);
    return key;
  };
  return {
    /** Parses `key, job number, ...`. */
    bellsOf: async (flat: readonly string[]): Promise<readonly Bell[]> => {
      const bells: Bell[] = [];
      for (let i = 0; i + 1 < flat.length; i += 2) {
        const [member = "", number = ""] = [flat[i], flat[i + 1]];
        const key = await keyOf(member);
        if (key !== undefined) bells.push({ key, number });
      }
      return bells;
    },
    handedOf: async ([member, json, copy, lists]: answers.Handed) => {
      const key = member === undefined ? undefined : await keyOf(member);
      return key !== undefined && json !== undefined
        ? { key, claim: answers.claimed(json, copy, lists) }
        : undefined;
    },
    // A failure to discard is ignored: the member is leased by then, and is found again when that lease has ended.
    givenOf: (flat: readonly string[]): readonly Given[] =>
      answers.given(flat, (member) => void discarded(member).catch(() => undefined)),
  };
}
