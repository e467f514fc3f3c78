import type { Milliseconds } from "@drover/controller";
import { unavailable } from "@drover/webhook";

/** Runs a Redis operation, and waits for it for a limited time. */
export type BoundedCall = <Answer>(operation: () => Promise<Answer>) => Promise<Answer>;

/**
 * A wake waits for as long as Redis is unavailable; a sender cannot. After `within` the caller gets an error, and the
 * operation still completes when Redis is back, which is harmless. At most `most` operations are in progress at once.
 *
 * @throws MessageRefusedError `unavailable` when either limit is reached.
 */
export function boundedCalls({
  most,
  within,
}: {
  readonly most: number;
  readonly within: Milliseconds;
}): BoundedCall {
  let pending = 0;
  return async (operation) => {
    if (pending >= most) throw unavailable(`${most} events are already being written to Redis`);
    pending++;
    const result = operation().finally(() => pending--);
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => late.reject(unavailable(`Redis did not answer within ${within} ms`)),
      within,
    );
    return Promise.race([result, late.promise]).finally(() => clearTimeout(timer));
  };
}
