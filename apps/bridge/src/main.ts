/**
 * # The bridge
 *
 * Watches the API server and turns every change into a wake of a key. `registrations.ts` says for which controllers,
 * `stream.ts` watches one kind, `wakes-of.ts` says what an event means. It reads metadata only and writes nothing to
 * the cluster.
 */
import { openWorkQueue } from "@drover/queue";
import { queueMetrics, runProcess } from "@drover/runtime";
import { bridgeConfig } from "./config.ts";
import { readRegistrations } from "./registrations.ts";
import { startStream, streamProblem } from "./stream.ts";
import { streamMetrics } from "./stream-metrics.ts";

const readyWithin = 1_000;

await runProcess(
  "bridge",
  bridgeConfig,
  ({ settings, log, client, redis, registry, stopping, readiness, closing }) => {
    const streams = readRegistrations(settings.functions).map((registration) => {
      const queue = openWorkQueue({ redis, controller: registration.controller, log });
      closing(`queue ${queue.controller}`, () => queue.close());
      queueMetrics(registry, queue.controller, () => queue.stats());
      readiness(`redis ${queue.controller}`, async () => (await queue.ping(readyWithin), undefined));
      const stream = startStream({ registration, queue, client, signal: stopping, log });
      readiness(`stream ${queue.controller}`, () => streamProblem(stream));
      closing(`stream ${queue.controller}`, () => stream.reflector.done);
      return stream;
    });
    streamMetrics(registry, streams);
  },
);
