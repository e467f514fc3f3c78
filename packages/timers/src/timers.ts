import type { Milliseconds } from "@drover/controller";

/**
 * Time, as an argument: production code passes the process clock, a test passes a clock that it controls.
 * `now` is monotonic, in ms; only differences have a meaning.
 */
export interface Timers {
  now(): Milliseconds;
  /** Calls back once after a time, unless cancelled. `what` is the name of the wait, by which tests find it. */
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

/** Calls back each time that the span has passed, until it is cancelled. */
export function repeatEvery(
  timers: Timers,
  span: Milliseconds,
  what: string,
  callback: () => void,
): CancelTimer {
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
 * @throws the signal's reason if it fires first.
 */
export async function sleep(
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
