import * as answers from "./redis-ledger-answers.ts";
import { ownSetName } from "../redis/lua/recorded-scripts.ts";
import { type Milliseconds, type ObjectKey, tryParseObjectKey, type Rate } from "@drover/controller";
import { z } from "zod";
import type { ClaimJob } from "../worker/job-queue.ts";
import {
  goneKeyTtl,
  type WorkerRegistration,
  maxErrorLength,
  type LeasedKey,
  type Ledger,
  type LedgerEnvironment,
  type LedgerDurations,
  type IdleSlots,
  runTimeUnit,
  maxPauseAuthorLength,
  maxPastRuns,
  type RunReport,
} from "./ledger.ts";
import type { RedisConnection } from "../redis/redis-servers.ts";
import { callLua, type LuaArguments } from "../redis/lua/lua-script.ts";
import type { LedgerScript } from "./ledger-script.ts";
import { ledgerScripts } from "./ledger-scripts.ts";
import { maxListItems } from "../redis/lua/script-bounds.ts";
import { subscribe } from "../redis/subscribe.ts";
import { cachedObjectTtl } from "../cache/cache-bounds.ts";
import type { Arrival, PauseScope, RunOutcome } from "../work-queue/work-queue.ts";

export interface RedisLedgerOptions extends LedgerDurations, LedgerEnvironment {
  readonly redis: RedisConnection;
  /**
   * Prefix of one controller's Redis keys; its hash tag puts them into one hash slot: `{drover:buckets.s3.drover.dev}`.
   */
  readonly prefix: string;
  /**
   * Called with the first incarnation, and with every later one: a new one means that acknowledged writes may be lost.
   */
  readonly onIncarnation?: (incarnation: string) => void;
  /** Replaces a script, for tests that look into it. */
  readonly instrument?: <Name extends string>(script: LedgerScript<Name>) => LedgerScript<Name>;
}

/** The ledger in Redis: every call runs one script, `renew` one per 1,000 leases. */
export interface RedisLedger extends Ledger {
  /** Checks the Redis keys that every ledger has, repairs what another client changed, and returns what was wrong. */
  repairSets(): Promise<readonly string[]>;
  /** Does the same with some of the ledger's Redis keys. Redis serves no other client meanwhile, so pass few. */
  repair(names: readonly string[]): Promise<readonly string[]>;
}

export function openRedisLedger(options: RedisLedgerOptions): RedisLedger {
  const run = scriptCaller(options);
  const jitter = options.random ?? Math.random;
  const { parseJobs, parseLeased } = replyParsers((member) =>
    run(ledgerScripts.discard, { member }, z.unknown()),
  );
  return {
    async wake(wakes, force = false) {
      const described = force ? wakes.map((one) => ({ ...one, force })) : wakes;
      return parseJobs(
        await run(ledgerScripts.wake, { wakes: JSON.stringify(described) }, answers.textsSchema),
      );
    },
    async claim(key, token, version = 0, askedAt = 0) {
      const values = { key, token, askedAt, version, jitter: jitter() };
      const [result, ...flat] = await run(ledgerScripts.claim, values, answers.claimSchema);
      if (result !== "claimed") return { refused: result };
      const [claimed] = parseLeased(flat, "dequeued");
      if (claimed === undefined) throw new Error(`Redis answered a claim of ${key} without its key.`);
      return { claimed };
    },
    renew: renewInBatches(run),
    async settle(key, token, outcome, report, request) {
      const { token: next = "", version = 0, worker = "", askedAt = 0 } = request ?? {};
      const values = {
        key,
        token,
        ...outcomeArguments(outcome),
        ...reportArguments(report),
        next,
        worker,
        askedAt,
        version,
        jitter: jitter(),
      };
      const answer = await run(ledgerScripts.settle, values, answers.settleSchema);
      if (answer[0] === "stale") return { kind: "stale" };
      const [kind, dueIn, chained, ...flat] = answer;
      const jobs = await parseJobs(flat);
      return { kind, dueIn: knownSpan(dueIn), jobs, chained: parseLeased(chained, "chained")[0] };
    },
    ...slotMethods(options, run, (flat) => parseLeased(flat, "assigned")),
    ...dispatchMethods(run, jitter, parseJobs),
    async registerWorker(worker) {
      const { slots, version, lasts } = worker;
      const { first, longest, attempts = "" } = worker.backoff;
      const settings = { first, longest, attempts, limits: limitsJson(worker) };
      const values = { slots, version, lasts, ...settings, scripts: ownSetName };
      await run(ledgerScripts.registerWorker, { worker: worker.worker, ...values }, z.unknown());
    },
    ...pauseMethods(run, parseJobs),
    ...readMethods(run),
    repairSets: () => run(ledgerScripts.repairSets, {}, answers.textsSchema),
    repair: (names) => run(ledgerScripts.repair, { names: JSON.stringify(names) }, answers.textsSchema),
  };
}

type ScriptCaller = ReturnType<typeof scriptCaller>;
type ParseJobs = (flat: readonly string[]) => Promise<readonly ClaimJob[]>;

/** The methods of the dispatcher. */
const dispatchMethods = (
  run: ScriptCaller,
  jitter: () => number,
  parseJobs: ParseJobs,
): Pick<Ledger, "dispatch" | "unclaimedJobs" | "dispatchAgain"> => ({
  async dispatch() {
    const [next, ...flat] = await run(ledgerScripts.dispatch, { jitter: jitter() }, answers.dispatchSchema);
    return { next: knownSpan(next), jobs: await parseJobs(flat) };
  },
  unclaimedJobs: async (minAge) =>
    parseJobs(await run(ledgerScripts.unclaimedJobs, { minAge }, answers.textsSchema)),
  async dispatchAgain({ key, number }) {
    await run(ledgerScripts.dispatchAgain, { key, jobNumber: number }, z.unknown());
  },
});

/** Renews in batches. Also without leases it makes one call, which may reveal a new incarnation. */
const renewInBatches =
  (run: ScriptCaller): Ledger["renew"] =>
  async (leases) => {
    const [lost, announced]: [string[], string[]] = [[], []];
    let incarnation = "";
    for (let i = 0; i === 0 || i < leases.length; i += maxListItems) {
      const batch = JSON.stringify(leases.slice(i, i + maxListItems));
      const [current, these, those] = await run(
        ledgerScripts.renew,
        { leases: batch },
        answers.renewalSchema,
      );
      incarnation = current;
      lost.push(...these);
      announced.push(...those);
    }
    return { incarnation, lost, announced };
  };

/** The methods that pause keys, or resume them. */
function pauseMethods(run: ScriptCaller, parseJobs: ParseJobs): Pick<Ledger, "pause" | "resume"> {
  const setPause = async (scope: PauseScope, on: 0 | 1, by = ""): Promise<readonly ClaimJob[]> => {
    const values = { scope: scopeName(scope), on, by: by.slice(0, maxPauseAuthorLength) };
    return parseJobs(await run(ledgerScripts.pause, values, answers.textsSchema));
  };
  return {
    pause: (scope, by) => setPause(scope, 1, by),
    resume: (scope) => setPause(scope, 0),
  };
}

/** The methods for advertised slots and assigned keys. */
function slotMethods(
  { redis, prefix }: RedisLedgerOptions,
  run: ScriptCaller,
  parseAssigned: (flat: readonly string[]) => readonly LeasedKey[],
): Pick<Ledger, "advertise" | "retract" | "receiveAssignments"> {
  const send = async ({ tokens, ...by }: IdleSlots, advertises: 0 | 1): Promise<readonly LeasedKey[]> =>
    parseAssigned(
      await run(
        ledgerScripts.advertise,
        { ...by, tokens: JSON.stringify(tokens), advertises },
        answers.textsSchema,
      ),
    );
  return {
    advertise: (slots) => send(slots, 1),
    retract: (slots) => send(slots, 0),
    receiveAssignments: (worker, onAssignment) =>
      subscribe(redis, `${prefix}:worker:${worker}`, (message) => {
        parseAssigned(message.split("\n")).forEach(onAssignment);
      }),
  };
}

/** The methods that report the state and change no key. */
const readMethods = (
  run: ScriptCaller,
): Pick<Ledger, "firstIncarnation" | "time" | "count" | "notRunSince" | "list" | "inspect"> => ({
  firstIncarnation: () => run(ledgerScripts.firstIncarnation, {}, z.string()),
  async time() {
    const [incarnation, at, recoveryLeft] = await run(ledgerScripts.time, {}, answers.timeSchema);
    return { incarnation, at, recoveryLeft };
  },
  async count() {
    const counts = await run(ledgerScripts.count, {}, answers.countsSchema);
    const [due, oldestDue, scheduled, running, parked, failing, meanRunTime, paused, all] = counts;
    const runTime = meanRunTime / runTimeUnit;
    return { due, oldestDue, scheduled, running, parked, failing, runTime, paused, allPaused: all === 1 };
  },
  async notRunSince(of, since) {
    const [now, ...found] = await run(
      ledgerScripts.notRunSince,
      { keys: JSON.stringify(of), since },
      answers.notRunSchema,
    );
    return { now, keys: found.flatMap((text) => tryParseObjectKey(text) ?? []) };
  },
  async list(state, limit, after = "") {
    const [next = "", ...reports] = await run(
      ledgerScripts.list,
      { state, limit, after },
      answers.textsSchema,
    );
    return { keys: reports.flatMap(answers.parseListedReport), next: next === "" ? undefined : next };
  },
  async inspect(key) {
    const [report = "", ...runs] = await run(ledgerScripts.inspect, { key }, answers.textsSchema);
    return { key: answers.parseKeyReport(report), runs: runs.flatMap(answers.parsePastRun) };
  },
});

/**
 * Returns a function that runs scripts for one ledger. It adds the common arguments, and calls `onIncarnation` when an
 * answer contains a new incarnation.
 */
function scriptCaller({
  redis,
  prefix,
  lease,
  recoveryWindow,
  now,
  server,
  onIncarnation,
  instrument,
}: RedisLedgerOptions) {
  let known: string | undefined;
  return async <Name extends string, Answer>(
    script: LedgerScript<Name>,
    values: LuaArguments<Name>,
    answer: z.ZodType<Answer>,
  ): Promise<Answer> => {
    const common = { now: now?.() ?? "", server: server?.() ?? "", lease, recoveryWindow };
    const [incarnation, found] = answers.scriptAnswerSchema.parse(
      await callLua(redis, instrument?.(script) ?? script, prefix, { ...values, ...common }),
    );
    if (incarnation !== known) {
      known = incarnation;
      onIncarnation?.(incarnation);
    }
    return answer.parse(found);
  };
}

/** An outcome as arguments of the settle script. */
function outcomeArguments(
  outcome: RunOutcome,
): LuaArguments<
  | "verdict"
  | "after"
  | "account"
  | "error"
  | "observedKind"
  | "observedUid"
  | "observedVersion"
  | "cachedObject"
  | "cachedLists"
  | "seen"
  | "keepFor"
> {
  const {
    kind = "",
    uid = "",
    resourceVersion = "",
    cachedObject = "",
    cachedLists = "",
    seen = [],
    keepFor = cachedObjectTtl,
  } = outcome.observed ?? {};
  const after = "after" in outcome ? outcome.after : undefined;
  return {
    verdict: outcome.kind,
    after: after === undefined ? "" : Math.ceil(after),
    account: ("account" in outcome ? outcome.account : undefined) ?? "",
    error: "error" in outcome ? outcome.error.slice(0, maxErrorLength) : "",
    observedKind: kind,
    observedUid: uid,
    observedVersion: resourceVersion,
    cachedObject,
    cachedLists,
    seen: seen.join("\n"),
    keepFor: Math.ceil(keepFor),
  };
}

/** A run's report as arguments of the settle script, and what the script keeps of a key. */
const reportArguments = (
  report: RunReport | undefined,
): LuaArguments<"record" | "ms" | "kept" | "forget"> => ({
  record: report ? JSON.stringify(report) : "",
  ms: report?.duration ?? 0,
  kept: maxPastRuns,
  forget: goneKeyTtl,
});

/** Rates by the name of their limit, as JSON for the script `ledgerScripts.registerWorker`. */
const limitsJson = ({ runs, accounts }: Pick<WorkerRegistration, "runs" | "accounts">): string =>
  JSON.stringify({
    ...(runs && { controller: bucket(runs) }),
    ...Object.fromEntries(Object.entries(accounts).map(([name, rate]) => [`account ${name}`, bucket(rate)])),
  });

const bucket = ({ perSecond, burst }: Rate) => ({ every: 1_000 / perSecond, burst });

function scopeName(scope: PauseScope): string {
  switch (scope.kind) {
    case "controller":
      return "controller";
    case "namespace":
      return `namespace ${scope.namespace}`;
    case "object":
      return `object ${scope.key}`;
  }
}

const knownSpan = (span: number): Milliseconds | undefined => (span < 0 ? undefined : span);

/** Parses the keys in answers. A member that is not an object key was added by another client, and is discarded. */
function replyParsers(discarded: (member: string) => Promise<unknown>) {
  const keyOf = async (member: string): Promise<ObjectKey | undefined> => {
    const key = tryParseObjectKey(member);
    if (key === undefined) await discarded(member);
    return key;
  };
  return {
    /** Parses `key, job number, ...`. */
    parseJobs: async (flat: readonly string[]): Promise<readonly ClaimJob[]> => {
      const jobs: ClaimJob[] = [];
      for (let i = 0; i + 1 < flat.length; i += 2) {
        const [member = "", number = ""] = [flat[i], flat[i + 1]];
        const key = await keyOf(member);
        if (key !== undefined) jobs.push({ key, number });
      }
      return jobs;
    },
    // A failure to discard is ignored: the member is leased by then, and is found again when that lease has ended.
    parseLeased: (flat: readonly string[], arrival: Arrival): readonly LeasedKey[] =>
      answers.parseLeasedKeys(flat, arrival, (member) => void discarded(member).catch(() => undefined)),
  };
}
