import type { Log, Milliseconds } from "@drover/controller";
import { every, type Timers } from "@drover/timers";
import type { Holding, Ledger } from "./ledger.ts";

/** A lease that is kept up while a run lasts. */
export interface Lease {
  /** Whether it is certainly still ours, by this process's monotonic clock. */
  held(): boolean;
  /** From now on it is not renewed any more, and not ours. */
  release(): void;
}

/** Keeps all leases of a process. */
export interface LeaseKeeper {
  /**
   * Keep a lease that was asked for at `askedAt` (`timers.now()`): the server's clock started after that, so it
   * lasts at least until `askedAt + duration`. `lose` is called at least half a renewal before that end; at once, where
   * that was long ago.
   */
  keep(lease: Holding & { readonly askedAt: number }, lose: (reason: LeaseLostError) => void): Lease;
  stop(): void;
}

/** The run was stopped because its lease may end: another worker may take the key. */
export class LeaseLostError extends Error {
  override readonly name = "LeaseLostError";
}

interface Kept extends Holding {
  /** When the ledger last said that it is ours, at the earliest. */
  heardAt: number;
  /** The era in which it announced itself in time, if it has. */
  announcedIn: string | undefined;
  readonly lose: (reason: LeaseLostError) => void;
}

/**
 * Two clocks run out. The **lease** on the server: a renewal before its end the run is told to stop. And **settling**: a
 * server that takes another's place, and may not know of our leases, hands out keys again after that time, so whoever
 * has heard of the ledger longer ago must not write, though the run goes on. Where it turns out that such a server did not
 * know of the run, it must stop: while it was silent another one may have come and gone, and data lost since may have
 * told of it.
 *
 * `renewal` is at most half of either, so that one renewal may get lost; on a new server it also announces the run.
 */
export function keepLeases(options: {
  ledger: Ledger;
  lease: Milliseconds;
  renewal: Milliseconds;
  settling: Milliseconds;
  timers: Timers;
  log: Log;
}): LeaseKeeper {
  const { ledger, lease, renewal, settling, timers, log } = options;
  const endsAt = (one: Kept): number => one.heardAt + lease - renewal;
  const isRecent = (one: Kept): boolean => timers.now() < one.heardAt + settling;
  const kept = new Map<string, Kept>();
  const lose = (one: Kept, why: string): void => {
    kept.delete(one.token);
    one.lose(new LeaseLostError(`The lease on ${one.key} ${why}; the run must stop.`));
  };
  let asking = false;
  const renew = async (): Promise<void> => {
    const mine = [...kept.values()];
    if (asking || mine.length === 0) return;
    asking = true;
    const askedAt = timers.now();
    try {
      const answer = await ledger.renew(mine.map(({ key, token }) => ({ key, token })));
      const [lost, announced] = [new Set(answer.lost), new Set(answer.announced)];
      for (const one of mine) {
        if (lost.has(one.token)) lose(one, "was taken over");
        else if (announced.has(one.token) && one.announcedIn !== answer.era && !isRecent(one))
          lose(one, "was not known to a server that took over, and another run may have been there");
        else {
          one.heardAt = askedAt;
          if (announced.has(one.token)) one.announcedIn = answer.era;
        }
      }
    } catch (error) {
      // The next renewal may get through; if none does, the leases end.
      log.warn({ err: error }, "Could not renew leases; trying again");
    } finally {
      asking = false;
    }
  };
  let turns = 0;
  const stop = every(timers, renewal / 2, "renewing leases", () => {
    const now = timers.now();
    for (const one of kept.values()) if (endsAt(one) <= now) lose(one, "is about to end");
    if (++turns % 2 === 0) void renew();
  });

  return {
    keep({ key, token, askedAt }, onLost) {
      const one: Kept = { key, token, heardAt: askedAt, announcedIn: undefined, lose: onLost };
      kept.set(token, one);
      if (endsAt(one) <= timers.now()) lose(one, "was about to end when it was heard of");
      return {
        held: () => kept.has(token) && timers.now() < endsAt(one) && isRecent(one),
        release: () => void kept.delete(token),
      };
    },
    stop,
  };
}
