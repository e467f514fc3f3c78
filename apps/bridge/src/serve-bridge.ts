import type { Milliseconds } from "@drover/controller";
import { within } from "@drover/queue";
import type { Process, TenantRedis } from "@drover/runtime";
import { type Bridge, openBridge } from "./bridge.ts";
import { bridgeMetrics } from "./bridge-metrics.ts";
import type { FollowSettings } from "./follow-settings.ts";
import { streamProblem } from "./stream-problem.ts";

const readyWithin: Milliseconds = 1_000;

export interface ServedBridge {
  /** The controller whose function is the rest of the process. */
  readonly embeddedIn?: string;
  /** Where each queue is. Default: in the process's Redis. */
  readonly redisFor?: TenantRedis["redisFor"];
}

/** A bridge as a part of a process, which is ready when it follows all that it is to. What that is, `register` says. */
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
    await within(readyWithin, redis.ping());
    return undefined;
  });
  readiness("streams", () => {
    const problems = [
      ...bridge.problems(),
      ...bridge.followed().flatMap((stream) => streamProblem(stream) ?? []),
    ];
    return problems.length === 0 ? undefined : problems.join("; ");
  });
  // A tenant's queue must not take the bridge away from the others.
  readiness("queues", () => {
    const notes = bridge.notes();
    return notes.length === 0 ? undefined : { note: notes.join("; ") };
  });
  bridgeMetrics(registry, bridge);
  return bridge;
}
