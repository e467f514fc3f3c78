import { setTimeout as delay } from "node:timers/promises";
import type { PseudoRandom } from "@drover/random";
import type { OurFunctions } from "../our-functions.ts";

export interface Killing {
  /** Rejects if a part does not start again. */
  readonly failed: Promise<never>;
  /** Resolves after the signal, when all that was killed is there again. */
  readonly ended: Promise<void>;
}

/** Kills one part after the other, Redis too, and starts it again. */
export function killAtRandom(
  functions: Pick<OurFunctions, "parts" | "restart">,
  {
    dice,
    signal,
    killed,
  }: {
    readonly dice: PseudoRandom;
    readonly signal: AbortSignal;
    readonly killed: (part: string) => void;
  },
): Killing {
  const failing = Promise.withResolvers<never>();
  failing.promise.catch(() => undefined);
  const work = async (): Promise<void> => {
    for (;;) {
      await delay(dice.between(500, 4_000), undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      const part = dice.oneOf(functions.parts);
      killed(part);
      await functions.restart(part);
    }
  };
  const ended = work().catch((error: unknown) => failing.reject(error));
  return { failed: failing.promise, ended };
}
