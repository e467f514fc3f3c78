import type { Log, Milliseconds } from "@drover/controller";
import { repeatEvery, type Timers } from "@drover/timers";
import type { HeldLease, Ledger } from "../ledger/ledger.ts";

/** A lease that is renewed while a run lasts. */
export interface Lease {
  /** True if the run certainly still holds the lease, by this process's monotonic clock. */
  isHeld(): boolean;
  /** Stops renewing the lease. From now on `isHeld` returns false. */
  release(): void;
}

/** Renews all leases of a process. */
export interface LeaseKeeper {
  /**
   * Renews a lease that was requested at `askedAt` (`timers.now()`). It began after that by the server's clock, so it
   * lasts at least one lease from `askedAt` on. `lose` is called at least half a `renewal` before that end, or at once
   * if that time is over.
   */
  keep(lease: HeldLease & { readonly askedAt: number }, lose: (reason: LeaseLostError) => void): Lease;
  stop(): void;
}

/** The run was stopped because its lease may end: another worker may take the key. */
export class LeaseLostError extends Error {
  override readonly name = "LeaseLostError";
}

interface KeptLease extends HeldLease {
  /** The ledger last confirmed the lease at this time or later. */
  confirmedAt: number;
  /** The incarnation in which the run announced itself in time, if any. */
  announcedIn: string | undefined;
  readonly lose: (reason: LeaseLostError) => void;
}

/**
 * Two time limits apply, both counted from the ledger's last answer:
 *
 * - The lease on the server. A run must stop if its lease may end: `lose` is called at least half a `renewal` before.
 * - The recovery window (`recoveryWindow`). A server that replaced another one may lack our leases, and assigns keys
 *   again after that time. So after it a run must not write, though it goes on until the ledger answers. If the new
 *   server did not have the run's lease, the run must stop then: another run may have come and gone meanwhile, and the
 *   data that recorded it may have been lost since.
 *
 * `renewal` is at most half of either limit, so that one renewal may get lost. On a new server a renewal also announces
 * the run.
 */
export function keepLeases(options: {
  ledger: Ledger;
  lease: Milliseconds;
  renewal: Milliseconds;
  recoveryWindow: Milliseconds;
  timers: Timers;
  log: Log;
}): LeaseKeeper {
  const { ledger, lease, renewal, recoveryWindow, timers, log } = options;
  const endsAt = (one: KeptLease): number => one.confirmedAt + lease - renewal;
  const isRecent = (one: KeptLease): boolean => timers.now() < one.confirmedAt + recoveryWindow;
  const kept = new Map<string, KeptLease>();
  const lose = (one: KeptLease, why: string): void => {
    kept.delete(one.token);
    one.lose(new LeaseLostError(`The lease on ${one.key} ${why}; the run must stop.`));
  };
  let isRenewing = false;
  const renew = async (): Promise<void> => {
    const leases = [...kept.values()];
    if (isRenewing || leases.length === 0) return;
    isRenewing = true;
    const askedAt = timers.now();
    try {
      const answer = await ledger.renew(leases.map(({ key, token }) => ({ key, token })));
      const [lost, announced] = [new Set(answer.lost), new Set(answer.announced)];
      for (const one of leases) {
        if (lost.has(one.token)) lose(one, "was taken over");
        else if (announced.has(one.token) && one.announcedIn !== answer.incarnation && !isRecent(one))
          lose(one, "is missing on a server that took over, so another run may have had the key");
        else {
          one.confirmedAt = askedAt;
          if (announced.has(one.token)) one.announcedIn = answer.incarnation;
        }
      }
    } catch (error) {
      // The next renewal may succeed; if none does, the leases end.
      log.warn({ err: error }, "Could not renew leases; trying again");
    } finally {
      isRenewing = false;
    }
  };
  let turns = 0;
  const stop = repeatEvery(timers, renewal / 2, "renewing leases", () => {
    const now = timers.now();
    for (const one of kept.values()) if (endsAt(one) <= now) lose(one, "is about to end");
    if (++turns % 2 === 0) void renew();
  });

  return {
    keep({ key, token, askedAt }, onLost) {
      const one: KeptLease = { key, token, confirmedAt: askedAt, announcedIn: undefined, lose: onLost };
      kept.set(token, one);
      if (endsAt(one) <= timers.now()) lose(one, "was about to end when it arrived");
      return {
        isHeld: () => kept.has(token) && timers.now() < endsAt(one) && isRecent(one),
        release: () => void kept.delete(token),
      };
    },
    stop,
  };
}
