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

/** Resolves after that time, or at once when the signal fires. For the process clock only. */
export const sleepUnlessAborted = (span: Milliseconds, signal: AbortSignal): Promise<void> =>
  sleep(processTimers, span, "a sleep", signal).catch(() => undefined);

/** `signal.aborted` as a call, because the type checker assumes that a property stays the same during a wait. */
export const isAborted = (signal: AbortSignal): boolean => signal.aborted;

/**
 * Waits for `done`, but not longer than `span`. Rejects if `done` rejects within that time. The timer does not keep the
 * process alive.
 */
export async function waitAtMost(span: Milliseconds, done: Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => late.resolve(undefined), span).unref();
  await Promise.race([done, late.promise]).finally(() => clearTimeout(timer));
}

/** The result of `work`, or a rejection with the signal's reason if the signal fires first. */
export async function raceAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => {
    aborted.reject(signal.reason);
  };
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
