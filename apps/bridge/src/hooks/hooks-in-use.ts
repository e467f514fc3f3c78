import type { Milliseconds } from "@drover/controller";
import { type RememberedSecrets, rememberSecrets } from "@drover/webhook";
import { type TokenBucket, tokenBucket } from "../token-bucket.ts";
import { boundedTelling, type Telling } from "./bounded-telling.ts";
import type { Hook } from "./hook.ts";
import type { ReadSecrets } from "./hook-secrets.ts";

/** A hook, and what this bridge keeps for it. */
export interface HookInUse {
  readonly hook: Hook;
  readonly secrets: RememberedSecrets;
  /** Of verified events only: who cannot sign cannot use it up. */
  readonly rate: TokenBucket;
  readonly tell: Telling;
}

/** The hooks that there are, by address. */
export interface HooksInUse {
  /** These there are now. What is kept for one that did not change stays. */
  want(hooks: readonly Hook[]): void;
  of(address: string): HookInUse | undefined;
  /** Whether it was said which there are. */
  areKnown(): boolean;
}

export interface HookLimits {
  readonly rate: { readonly perSecond: number; readonly burst: number };
  /** Events of one hook that are being told to Redis at once, also those that nobody waits for any more. */
  readonly telling: number;
  /** How long Redis is waited for, while a sender waits. */
  readonly patience: Milliseconds;
}

export const usualLimits: HookLimits = {
  rate: { perSecond: 100, burst: 200 },
  telling: 32,
  patience: 5_000,
};

/** A secret that was taken back is believed for this long. */
const believedFor: Milliseconds = 30_000;

/** @param clock one that never goes back. */
export function openHooksInUse(read: ReadSecrets, limits: HookLimits, clock: () => Milliseconds): HooksInUse {
  let inUse: ReadonlyMap<string, HookInUse> | undefined;
  const use = (hook: Hook): HookInUse => ({
    hook,
    secrets: rememberSecrets(() => read(hook), clock, believedFor),
    rate: tokenBucket(limits.rate, clock),
    tell: boundedTelling({ most: limits.telling, within: limits.patience }),
  });
  return {
    want(hooks) {
      inUse = new Map(
        hooks.map((hook) => {
          const before = inUse?.get(hook.address);
          return [hook.address, before && isSame(before.hook, hook) ? before : use(hook)];
        }),
      );
    },
    of: (address) => inUse?.get(address),
    areKnown: () => inUse !== undefined,
  };
}

const isSame = (a: Hook, b: Hook): boolean => JSON.stringify(a) === JSON.stringify(b);
