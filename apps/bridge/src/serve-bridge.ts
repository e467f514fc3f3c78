import type { Milliseconds } from "@drover/controller";
import type { Process } from "@drover/runtime";
import { type Bridge, openBridge } from "./bridge.ts";
import { bridgeMetrics } from "./bridge-metrics.ts";
import type { FollowSettings } from "./follow-settings.ts";
import { streamProblem } from "./stream-problem.ts";

const readyWithin: Milliseconds = 1_000;

/**
 * A bridge as a part of a process, which is ready when it follows all that it is to. What that is, `register` says.
 *
 * @param embeddedIn the controller whose function is the rest of the process.
 */
export function serveBridge(
  { settings, log, client, redis, registry, readiness, closing }: Process<FollowSettings>,
  embeddedIn?: string,
): Bridge {
  const bridge = openBridge({ client, redis, log, embeddedIn, compareEvery: settings.compareEvery });
  closing("bridge", () => bridge.close());
  readiness("redis", async () => {
    await Promise.all(bridge.queues().map((queue) => queue.ping(readyWithin)));
    return undefined;
  });
  readiness("streams", () => {
    const problems = [
      ...bridge.problems(),
      ...bridge.followed().flatMap((stream) => streamProblem(stream) ?? []),
    ];
    return problems.length === 0 ? undefined : problems.join("; ");
  });
  bridgeMetrics(registry, bridge);
  return bridge;
}
