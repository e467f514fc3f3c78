import type { Milliseconds } from "@drover/controller";
import { type CachedSecrets, cacheSecrets } from "@drover/webhook";
import { type TokenBucket, tokenBucket } from "../token-bucket.ts";
import { boundedCalls, type BoundedCall } from "./bounded-calls.ts";
import type { Hook } from "./hook.ts";
import type { ReadSecrets } from "./verification/hook-secrets.ts";

/** A hook, and this bridge's state for it. */
export interface HookInUse {
  readonly hook: Hook;
  readonly secrets: CachedSecrets;
  /** Counts only verified events, so that a sender without the secret cannot use it up. */
  readonly rate: TokenBucket;
  readonly call: BoundedCall;
}

/** The registered hooks, by address. */
export interface HooksInUse {
  /** Replaces the hooks. An unchanged hook keeps its state. */
  want(hooks: readonly Hook[]): void;
  of(address: string): HookInUse | undefined;
  /** True once hooks have been registered. */
  areKnown(): boolean;
}

export interface HookLimits {
  readonly rate: { readonly perSecond: number; readonly burst: number };
  /** Limit of Redis operations of one hook in progress at once, including those that no sender waits for any more. */
  readonly maxPending: number;
  /** How long to wait for Redis while a sender waits. */
  readonly redisTimeout: Milliseconds;
}

export const usualLimits: HookLimits = {
  rate: { perSecond: 100, burst: 200 },
  maxPending: 32,
  redisTimeout: 5_000,
};

/** How long a revoked secret is still accepted. */
const secretTtl: Milliseconds = 30_000;

/** @param clock a monotonic clock. */
export function openHooksInUse(read: ReadSecrets, limits: HookLimits, clock: () => Milliseconds): HooksInUse {
  let inUse: ReadonlyMap<string, HookInUse> | undefined;
  const use = (hook: Hook): HookInUse => ({
    hook,
    secrets: cacheSecrets(() => read(hook), clock, secretTtl),
    rate: tokenBucket(limits.rate, clock),
    call: boundedCalls({ most: limits.maxPending, within: limits.redisTimeout }),
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
