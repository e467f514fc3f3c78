import type { Milliseconds } from "@drover/controller";
import type { ClaimJob } from "../worker/job-queue.ts";
import type { LeasedKey, Ledger, LedgerEnvironment, LedgerDurations } from "../ledger/ledger.ts";
import { adoptServer, endRecoveryWindow, ledgerTime } from "./rules/adoption.ts";
import { clampLeases, takeBackLeases } from "./rules/backoff.ts";
import { claim } from "./rules/claim.ts";
import { registerWorker } from "./rules/register-worker.ts";
import { blankData, type LedgerData } from "./rules/ledger-data.ts";
import type { CallContext } from "./rules/call-context.ts";
import { advertiseOrRetract } from "./rules/advertised-slots.ts";
import { pause } from "./rules/pause.ts";
import { renew } from "./rules/renew.ts";
import { count, inspect, list, notRunSince } from "./rules/report.ts";
import { nextDue, dispatch, dispatchAgain, unclaimedJobs } from "./rules/dispatch.ts";
import { settle } from "./rules/settle.ts";
import { recordWake } from "./rules/wake.ts";
import { maxSlotsChecked, maxFlowsChecked } from "../redis/lua/script-bounds.ts";
import { setImmediate as nextTurn } from "node:timers/promises";

export interface MemoryLedgerOptions extends LedgerDurations, LedgerEnvironment {
  /**
   * Called with the first incarnation, and with every later one: a new one means that acknowledged wakes may be lost.
   */
  readonly onIncarnation?: (incarnation: string) => void;
  /** Clock for expiry. Redis, too, expires keys by its own clock. */
  readonly expiryNow?: () => Milliseconds;
}

/** A ledger with data that can be copied and replaced, as backups and failovers do with a server's data. */
export interface MemoryLedger extends Ledger {
  /** A copy of the present data; later calls do not change it. */
  backup(): LedgerData;
  /** Replaces the data with a backup or, without one, with nothing. */
  restore(backup?: LedgerData): void;
}

/** Checks that one call may make. */
const newBudget = (): CallContext["budget"] => ({ flows: maxFlowsChecked, slots: maxSlotsChecked });

/**
 * The ledger in memory: the rules of a work queue, in a form for readers. Each rule is a file of `rules/`;
 * start with `wake.ts`, `claim.ts` and `settle.ts`.
 *
 * With the same calls, clock, server and jitter, it returns exactly what the ledger in Redis returns, except for the
 * names of incarnations. Its data are lost with the process, so it is for tests, and a model to compare others with.
 */
export function openMemoryLedger(options: MemoryLedgerOptions): MemoryLedger {
  const { lease, recoveryWindow, onIncarnation, now = wallClock } = options;
  const { expiryNow = () => performance.now(), server = () => "memory", random = Math.random } = options;
  let data = blankData();
  let incarnations = 0;
  let known: string | undefined;
  const { notify, receiveAssignments } = assignmentChannels();
  /** Every method is one atomic call at one instant, after the current server has adopted the ledger. */
  const call = <T>(work: (context: CallContext) => T): Promise<T> =>
    Promise.try(() => {
      const times = { now: now(), expiryTime: expiryNow(), lease, recoveryWindow };
      const context: CallContext = { data, ...times, budget: newBudget(), notify };
      const running = server();
      dropExpired(context);
      endRecoveryWindow(context);
      if (data.server !== running) adoptServer(context, running, `${running}-${++incarnations}`);
      const answer = work(context);
      if (data.incarnation !== known) onIncarnation?.((known = data.incarnation));
      return answer;
    });
  const dispatchAfter = (work: (context: CallContext) => void): Promise<readonly ClaimJob[]> =>
    call((context) => {
      work(context);
      return dispatch(context);
    });
  return {
    wake: (wakes, force = false) =>
      dispatchAfter((context) => {
        for (const wake of wakes) recordWake(context, wake, force);
      }),
    claim: (key, token, version = 0, askedAt = 0) =>
      call((context) => claim(context, random(), { key, token, version, askedAt })),
    renew: (leases) => call((context) => renew(context, leases)),
    settle: (key, token, outcome, report, next) =>
      call((context) => settle(context, random(), { key, token, outcome, report, next })),
    dispatch: () =>
      call((context) => {
        clampLeases(context);
        takeBackLeases(context, random());
        // One job more: dead workers stay registered for about a lease.
        return { jobs: dispatch(context, 1), next: nextDue(context) };
      }),
    advertise: (slots) => call((context) => advertiseOrRetract(context, slots, true)),
    retract: (slots) => call((context) => advertiseOrRetract(context, slots, false)),
    receiveAssignments,
    unclaimedJobs: (minAge) => call((context) => unclaimedJobs(context, minAge)),
    dispatchAgain: (job) => call((context) => dispatchAgain(context, job)),
    registerWorker: (registration) => call((context) => registerWorker(context, registration)),
    pause: (scope, by) => dispatchAfter((context) => pause(context, scope, by)),
    resume: (scope) => dispatchAfter((context) => pause(context, scope, undefined)),
    firstIncarnation: () => call(({ data: { firstIncarnation } }) => firstIncarnation),
    time: () => call(ledgerTime),
    count: () => call(count),
    notRunSince: (keys, since) => call((context) => notRunSince(context, keys, since)),
    list: (state, limit, after) => call((context) => list(context, state, limit, after)),
    inspect: (key) => call((context) => inspect(context, key)),
    backup: () => structuredClone(data),
    restore(backup) {
      data = backup ? structuredClone(backup) : blankData();
    },
  };
}

/**
 * Delivers assigned keys in a turn of the event loop of their own, like messages from Redis, since runs may never wait.
 */
function assignmentChannels(): Pick<Ledger, "receiveAssignments"> & Pick<CallContext, "notify"> {
  const byWorker = new Map<string, Set<(assigned: LeasedKey) => void>>();
  return {
    notify: (worker, assignment) => {
      setImmediate(() => byWorker.get(worker)?.forEach((receive) => receive(assignment)));
    },
    receiveAssignments: (worker, receive) => {
      const all = byWorker.get(worker) ?? new Set();
      byWorker.set(worker, all.add(receive));
      return { caughtUp: () => nextTurn(), stop: () => void all.delete(receive) };
    },
  };
}

/** Milliseconds since 1970, on a clock that does not jump. */
export const wallClock = (): number => Math.floor(performance.timeOrigin + performance.now());

function dropExpired({ data, expiryTime }: CallContext): void {
  for (const left of [data.cachedObjects, data.cachedLists])
    for (const [key, { until }] of left) {
      if (until > expiryTime) break;
      left.delete(key);
    }
  for (const [key, at] of data.expiring) {
    if (at > expiryTime) return;
    data.expiring.delete(key);
    data.entries.delete(key);
    data.history.delete(key);
  }
}
