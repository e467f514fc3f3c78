import type { Milliseconds } from "@drover/controller";
import type { Bell } from "./bells.ts";
import type { Given, Ledger, LedgerSurroundings, LedgerTimes } from "./ledger.ts";
import { adopt, passSettling, stand } from "./memory-ledger/adoption.ts";
import { shortenLeases, takeBackLeases } from "./memory-ledger/backoff.ts";
import { claim } from "./memory-ledger/claim.ts";
import { enlist } from "./memory-ledger/enlist.ts";
import { blankData, type LedgerData } from "./memory-ledger/ledger-data.ts";
import type { Moment } from "./memory-ledger/moment.ts";
import { offer } from "./memory-ledger/offers.ts";
import { pause } from "./memory-ledger/pause.ts";
import { renew } from "./memory-ledger/renew.ts";
import { count, inspect, list, notRunSince } from "./memory-ledger/report.ts";
import { nextDue, ring, ringAgain, unanswered } from "./memory-ledger/ring.ts";
import { settle } from "./memory-ledger/settle.ts";
import { hear } from "./memory-ledger/wake.ts";
import { mostOffers, mostTurns } from "./script-bounds.ts";
import { setImmediate as nextTurn } from "node:timers/promises";

export interface MemoryLedgerOptions extends LedgerTimes, LedgerSurroundings {
  /** Called with the first era, and with every later one: a new era means that acknowledged wakes may be lost. */
  readonly onEra?: (era: string) => void;
  /** Clock for expiry. Redis, too, expires keys by its own clock. */
  readonly age?: () => Milliseconds;
}

/** A ledger with data that can be copied and replaced, as backups and failovers do with a server's data. */
export interface MemoryLedger extends Ledger {
  /** A copy of the present data; later calls do not change it. */
  backup(): LedgerData;
  /** Replaces the data with a backup or, without one, with nothing. */
  restore(backup?: LedgerData): void;
}

/** Checks that one call may make. */
const wholeCall = (): Moment["left"] => ({ turns: mostTurns, offers: mostOffers });

/**
 * The ledger in memory: the rules of a work queue, in a form for readers. Each rule is a file of `memory-ledger/`;
 * start with `wake.ts`, `claim.ts` and `settle.ts`.
 *
 * With the same calls, clock, server and jitter, it returns exactly what the ledger in Redis returns, except for the
 * names of eras. Its data are lost with the process, so it is for tests, and a model to compare others with.
 */
export function openMemoryLedger(options: MemoryLedgerOptions): MemoryLedger {
  const { lease, settling, onEra, now = wallClock, age = () => performance.now() } = options;
  const { server = () => "memory", random = Math.random } = options;
  let data = blankData();
  let eras = 0;
  let known: string | undefined;
  const { tell, listen } = listeners();
  /** Every method is one atomic call at one instant, after the current server has adopted the ledger. */
  const call = <T>(work: (moment: Moment) => T): Promise<T> =>
    Promise.try(() => {
      const moment: Moment = { data, now: now(), age: age(), lease, settling, left: wholeCall(), tell };
      const running = server();
      forgetGone(moment);
      passSettling(moment);
      if (data.server !== running) adopt(moment, running, `${running}-${++eras}`);
      const answer = work(moment);
      if (data.era !== known) onEra?.((known = data.era));
      return answer;
    });
  const ringAfter = (work: (moment: Moment) => void): Promise<readonly Bell[]> =>
    call((moment) => {
      work(moment);
      return ring(moment);
    });
  return {
    wake: (wakes, force = false) =>
      ringAfter((moment) => {
        for (const wake of wakes) hear(moment, wake, force);
      }),
    claim: (key, token, version = 0) => call((moment) => claim(moment, random(), { key, token, version })),
    renew: (leases) => call((moment) => renew(moment, leases)),
    settle: (key, token, verdict, run, next) =>
      call((moment) => settle(moment, random(), { key, token, verdict, run, next })),
    ring: () =>
      call((moment) => {
        shortenLeases(moment);
        takeBackLeases(moment, random());
        // The registered slots may be wrong, as those of dead workers are for about a lease: so one job may always be
        // out.
        const bells = ring(moment, 1);
        return { next: nextDue(moment), bells };
      }),
    offer: (offers) => call((moment) => offer(moment, offers, true)),
    withdraw: (offers) => call((moment) => offer(moment, offers, false)),
    listen,
    unanswered: (patience) => call((moment) => unanswered(moment, patience)),
    ringAgain: (bell) => call((moment) => ringAgain(moment, bell)),
    enlist: (enlistment) => call((moment) => enlist(moment, enlistment)),
    pause: (scope, by) => ringAfter((moment) => pause(moment, scope, by)),
    resume: (scope) => ringAfter((moment) => pause(moment, scope, undefined)),
    origin: () => call(({ data: { origin } }) => origin),
    moment: () => call(stand),
    count: () => call(count),
    notRunSince: (keys, since) => call((moment) => notRunSince(moment, keys, since)),
    list: (state, limit, after) => call((moment) => list(moment, state, limit, after)),
    inspect: (key) => call((moment) => inspect(moment, key)),
    backup: () => structuredClone(data),
    restore(backup) {
      data = backup ? structuredClone(backup) : blankData();
    },
  };
}

/**
 * Delivers assigned keys in a turn of the event loop of their own, like messages from Redis, since runs may never wait.
 */
function listeners(): Pick<Ledger, "listen"> & Pick<Moment, "tell"> {
  const byWorker = new Map<string, Set<(given: Given) => void>>();
  return {
    tell: (worker, given) => {
      setImmediate(() => byWorker.get(worker)?.forEach((hear) => hear(given)));
    },
    listen: (worker, hear) => {
      const all = byWorker.get(worker) ?? new Set();
      byWorker.set(worker, all.add(hear));
      return { caughtUp: () => nextTurn(), stop: () => void all.delete(hear) };
    },
  };
}

/** Milliseconds since 1970, on a clock that does not jump. */
export const wallClock = (): number => Math.floor(performance.timeOrigin + performance.now());

function forgetGone({ data, age }: Moment): void {
  for (const left of [data.copies, data.lists])
    for (const [key, { until }] of left) {
      if (until > age) break;
      left.delete(key);
    }
  for (const [key, at] of data.leaving) {
    if (at > age) return;
    data.leaving.delete(key);
    data.entries.delete(key);
    data.history.delete(key);
  }
}
