import type { Milliseconds } from "@drover/controller";
import { unavailable } from "./event-refused.ts";

/** Tells Redis something, and waits for it for so long only. */
export type Telling = <Answer>(tell: () => Promise<Answer>) => Promise<Answer>;

/**
 * A wake waits for Redis for as long as it is away; a sender cannot. What nobody waits for any more is still told when
 * Redis is back, which is harmless; but so many of them there may be at once, and no more.
 */
export function boundedTelling({
  most,
  within,
}: {
  readonly most: number;
  readonly within: Milliseconds;
}): Telling {
  let underWay = 0;
  return async (tell) => {
    if (underWay >= most) throw unavailable(`${most} events are being told to Redis already`);
    underWay++;
    const told = tell().finally(() => underWay--);
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => late.reject(unavailable(`Redis did not take it within ${within} ms`)),
      within,
    );
    return Promise.race([told, late.promise]).finally(() => clearTimeout(timer));
  };
}
