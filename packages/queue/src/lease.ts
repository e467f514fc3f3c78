import type { Milliseconds, ObjectKey } from "@drover/controller";
import type { Ledger } from "./ledger.ts";

/** A lease that is kept up while a run lasts. */
export interface Lease {
  /** Fires with the reason when the lease is lost, or so near its end that it may be. */
  readonly lost: AbortSignal;
  /** Whether it is certainly still ours, by this process's monotonic clock. */
  held(): boolean;
  release(): void;
}

/** The run was stopped because its lease may end: another worker may take the key. */
export class LeaseLostError extends Error {
  override readonly name = "LeaseLostError";
}

/**
 * Keep a lease that was asked for at `askedAt` (`performance.now()`): the server's clock started after that, so the
 * lease lasts at least until `askedAt + duration`. Half a renewal's span before that end, `lost` fires.
 */
export function keepLease(options: {
  ledger: Ledger;
  key: ObjectKey;
  token: string;
  duration: Milliseconds;
  /** The lease is renewed this often; less than half of `duration`, so that one renewal may get lost. */
  renewal: Milliseconds;
  askedAt: number;
}): Lease {
  const { ledger, key, token, duration, renewal } = options;
  const margin = renewal / 2;
  const lost = new AbortController();
  let released = false;
  let safeUntil = options.askedAt + duration - margin;
  const lose = (why: string): void =>
    lost.abort(new LeaseLostError(`The lease on ${key} ${why}; the run must stop.`));

  const expiry = () => setTimeout(() => lose("is about to end"), Math.max(0, safeUntil - performance.now()));
  let end = expiry();
  const renewing = setInterval(() => {
    const askedAt = performance.now();
    ledger.renew(key, token).then(
      (ours) => {
        if (!ours) lose("was taken over");
        if (released || lost.signal.aborted) return;
        safeUntil = askedAt + duration - margin;
        clearTimeout(end);
        end = expiry();
      },
      () => undefined, // The next renewal may get through; if none does, the end fires.
    );
  }, renewal);

  return {
    lost: lost.signal,
    held: () => !released && !lost.signal.aborted && performance.now() < safeUntil,
    release() {
      released = true;
      clearInterval(renewing);
      clearTimeout(end);
    },
  };
}
