/**
 * # The bridge
 *
 * Watches the API server and turns every change into wakes of keys. It reads and writes nothing else in the cluster.
 *
 * - `registrations.ts` reads which controllers there are; `registration.ts` is what one means.
 * - `plan-streams.ts` says which kinds must be followed for them, and who listens.
 * - `keep-streams.ts` holds this bridge's part of these streams, under leases in Redis.
 * - `follow-stream.ts` follows one; `wakes-of.ts` says what an event means for a listener.
 */
import { queueMetrics, runProcess } from "@drover/runtime";
import { openBridge } from "./bridge.ts";
import { bridgeConfig } from "./config.ts";
import { readRegistrations } from "./registrations.ts";
import { bridgeMetrics } from "./bridge-metrics.ts";
import { streamProblem } from "./stream-problem.ts";

const readyWithin = 1_000;

await runProcess("bridge", bridgeConfig, ({ settings, log, client, redis, registry, readiness, closing }) => {
  const registrations = readRegistrations(settings.functions);
  const bridge = openBridge({ client, redis, log, compareEvery: settings.compareEvery });
  closing("bridge", () => bridge.close());
  bridge.register(registrations);
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
  queueMetrics(registry, () => bridge.queues());
  bridgeMetrics(registry, bridge);
});
