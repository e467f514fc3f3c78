import { queueDisplayName } from "@drover/controller";
import type { WorkOptions, WorkQueue } from "@drover/queue";
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";

/** Seconds; from a no-op to the default timeout. */
const runBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Interval of the measurements of the event loop's delay, ms. The usual 10 ms take 0.6 % of a processor at rest. */
const eventLoopSampleInterval = 100;

/** A registry with the metrics that every process has. */
export function openRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: eventLoopSampleInterval });
  return registry;
}

/** Metrics of a function's runs. The label `controller` is the queue of the runs, without the function's uid. */
export interface RunMetrics {
  settled(queue: string, ...run: Parameters<NonNullable<WorkOptions["onSettled"]>>): void;
}

export function runMetrics(registry: Registry): RunMetrics {
  const runs = new Counter({
    name: "drover_runs_total",
    help: "Runs settled, by verdict.",
    labelNames: ["controller", "verdict"],
    registers: [registry],
  });
  const arrivals = new Counter({
    name: "drover_run_arrivals_total",
    help:
      "Runs settled, by how their key arrived (rung: by a BullMQ job; handed: with the outcome of the slot's last run; " +
      "given: to an idle slot), and by their object (copy: cached; live: read from the API server).",
    labelNames: ["controller", "by", "object"],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: "drover_run_seconds",
    help: "From claim to settle.",
    labelNames: ["controller"],
    buckets: runBuckets,
    registers: [registry],
  });
  return {
    settled(queue, { claim }, outcome, duration, by) {
      const controller = queueDisplayName(queue);
      runs.inc({ controller, verdict: outcome.kind });
      arrivals.inc({ controller, by, object: claim.cachedObject === undefined ? "live" : "copy" });
      seconds.observe({ controller }, duration / 1_000);
    },
  };
}

/** Timeout in ms: a scrape must not wait for a Redis that is unreachable. */
const scrapeTimeout = 1_000;

/** The state of queues, read at each scrape. A queue has no values while its Redis does not answer. */
export function queueMetrics(
  registry: Registry,
  queues: () => readonly Pick<WorkQueue, "controller" | "stats">[],
): void {
  const oldest = new Gauge({
    name: "drover_queue_oldest_due_seconds",
    help: "How long the longest-waiting due key has waited.",
    labelNames: ["controller"],
    registers: [registry],
  });
  new Gauge({
    name: "drover_queue_keys",
    help: "Keys by state: due, scheduled, running, parked, failing; paused: due, but paused on purpose.",
    labelNames: ["controller", "state"],
    registers: [registry],
    async collect() {
      this.reset();
      oldest.reset();
      const counted = queues().map(async ({ controller, stats }) => {
        const { oldestDue, due, scheduled, running, parked, failing, paused } = await stats(scrapeTimeout);
        const states = { due, scheduled, running, parked, failing, paused };
        const shown = queueDisplayName(controller);
        for (const [state, keys] of Object.entries(states)) this.set({ controller: shown, state }, keys);
        oldest.set({ controller: shown }, oldestDue / 1_000);
      });
      await Promise.allSettled(counted);
    },
  });
}
