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
      const queue = openWorkQueue({
        redis,
        controller: registration.controller,
        log,
        onIncarnation: () => stream.relist(),
      });
      closing(`queue ${queue.controller}`, () => queue.close());
      readiness(`redis ${queue.controller}`, () => queue.ping(readyWithin).then(() => undefined));
      const stream = startStream({ registration, queue, client, signal: stopping, log });
      closing(`stream ${queue.controller}`, () => stream.reflector.done);
      readiness(`stream ${queue.controller}`, () => streamProblem(stream));
      return stream;
    });
    queueMetrics(
      registry,
      streams.map(({ queue }) => queue),
    );
    streamMetrics(registry, streams);
  },
);
