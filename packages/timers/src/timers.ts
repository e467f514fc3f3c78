import type { Milliseconds } from "@drover/controller";

/**
 * Time, as an argument: production gives the process clock, a test gives one that it holds in its hand.
 * `now` is monotonic; only differences mean something.
 */
export interface Timers {
  now(): Milliseconds;
  /** Calls back once after a time, unless cancelled. `what` names the wait for whoever reads along. */
  after(span: Milliseconds, what: string, callback: () => void): CancelTimer;
}

export type CancelTimer = () => void;

/** The process clock. */
export const processTimers: Timers = {
  now: () => performance.now(),
  after: (span, _what, callback) => {
    const timer = setTimeout(callback, span);
    return () => clearTimeout(timer);
  },
};

/** Calls back after each such time, until it is cancelled. */
export function every(timers: Timers, span: Milliseconds, what: string, callback: () => void): CancelTimer {
  let cancel: CancelTimer;
  const arm = (): void => {
    cancel = timers.after(span, what, () => {
      arm();
      callback();
    });
  };
  arm();
  return () => cancel();
}

/**
 * Waits for a time.
 * @throws the signal's reason when it fires first.
 */
export async function pause(
  timers: Timers,
  span: Milliseconds,
  what: string,
  signal?: AbortSignal,
): Promise<void> {
  signal?.throwIfAborted();
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const done = (): void => resolve(undefined);
  const cancel = timers.after(span, what, done);
  signal?.addEventListener("abort", done, { once: true });
  await promise;
  cancel();
  signal?.removeEventListener("abort", done);
  signal?.throwIfAborted();
}
