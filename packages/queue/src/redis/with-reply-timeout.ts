import type { Milliseconds } from "@drover/controller";

/** The answer of Redis, or an error if it is late: commands wait for as long as a server is away. */
export async function withReplyTimeout<T>(timeout: Milliseconds, answer: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Error(`Redis did not answer within ${timeout} ms.`)),
    timeout,
  );
  return Promise.race([answer, late.promise]).finally(() => clearTimeout(timer));
}
