/** What is waited for, or the signal's reason where that fires first. */
export function unlessAborted<Value>(value: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  return Promise.race([value, aborted.promise]).finally(() => signal.removeEventListener("abort", abort));
}
