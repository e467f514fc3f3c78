import type { Milliseconds } from "@drover/controller";
import { withReplyTimeout } from "@drover/queue";
import type { Process, TenantRedis } from "@drover/runtime";
import { type Bridge, openBridge } from "./bridge.ts";
import { bridgeMetrics } from "./bridge-metrics.ts";
import type { FollowSettings } from "./follow-settings.ts";
import { streamProblem } from "./streams/stream-problem.ts";

const readyWithin: Milliseconds = 1_000;

export interface ServedBridge {
  /** The controller of the function that runs in the same process. */
  readonly embeddedIn?: string;
  /** Returns the Redis of a queue. Default: the process's Redis. */
  readonly redisFor?: TenantRedis["redisFor"];
}

/** Adds a bridge to a process. The bridge is ready once it follows everything that `register` asked for. */
export function serveBridge(
  { settings, log, client, redis, registry, readiness, closing }: Process<FollowSettings>,
  { embeddedIn, redisFor }: ServedBridge = {},
): Bridge {
  const bridge = openBridge({
    client,
    redis,
    redisFor,
    log,
    embeddedIn,
    compareEvery: settings.compareEvery,
  });
  closing("bridge", () => bridge.close());
  readiness("redis", async () => {
    await withReplyTimeout(readyWithin, redis.ping());
    return undefined;
  });
  readiness("streams", () => {
    const problems = [
      ...bridge.problems(),
      ...bridge.followed().flatMap((stream) => streamProblem(stream) ?? []),
    ];
    return problems.length === 0 ? undefined : problems.join("; ");
  });
  // Only a note: one tenant's queue must not make the bridge unready for the others.
  readiness("queues", () => {
    const notes = bridge.notes();
    return notes.length === 0 ? undefined : { note: notes.join("; ") };
  });
  bridgeMetrics(registry, bridge);
  return bridge;
}
