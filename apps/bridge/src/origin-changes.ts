import type { Milliseconds } from "@drover/controller";

/** How often the origin of one queue may change: a server that is restarted, replaced or emptied. */
export interface OriginChanges {
  mayChange(): boolean;
  /** It has changed. */
  count(): void;
}

/** Changes at once: restarts while somebody repairs a server. */
const burst = 5;
const every: Milliseconds = 60_000;

/**
 * All objects of a stream are listed again for a queue whose origin changes, and a function may write its own queue's
 * origin as often as it likes. So each queue has a limit: five changes at once, then one a minute (the
 * generic cell rate algorithm). What exceeds it waits: that queue alone is woken late for what it may have lost.
 *
 * @param now milliseconds, on a clock that never goes back.
 */
export function originChanges(now: () => Milliseconds = () => performance.now()): OriginChanges {
  let free = -Infinity;
  return {
    mayChange: () => free <= now(),
    count() {
      free = Math.max(free, now() - (burst - 1) * every) + every;
    },
  };
}

/** A queue whose origin changes too often. */
export class TooManyOriginsError extends Error {
  override readonly name = "TooManyOriginsError";
  constructor() {
    super(
      "Its queue in Redis says again and again that it is another one. Is its Redis restarted all the time, or does its " +
        "function write there? Changes are taken up once a minute.",
    );
  }
}
