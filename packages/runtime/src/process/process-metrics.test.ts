import type { WorkQueue } from "@drover/queue";
import { expect, it } from "vitest";
import { openRegistry, queueMetrics, runMetrics } from "./process-metrics.ts";
import { runOf } from "../run/widgets.fixture.ts";

const stats = { due: 1, scheduled: 2, running: 3, parked: 4, failing: 5, paused: 6, oldestDue: 2_500 };
const queue = (controller: string, answers: boolean): WorkQueue =>
  ({
    controller,
    stats: () => (answers ? Promise.resolve({ ...stats }) : Promise.reject(new Error("no answer"))),
  }) as unknown as WorkQueue;
const scraped = async (registry: ReturnType<typeof openRegistry>, name: string) =>
  (await registry.metrics()).split("\n").filter((line) => line.startsWith(`${name}{`));

it("metrics show the current state of each queue that replies, in seconds and without the function's uid", async () => {
  const registry = openRegistry();
  let queues = [queue("web/sites/u", true), queue("web/cups/u", false)];
  queueMetrics(registry, () => queues);
  expect(await scraped(registry, "drover_queue_keys")).toEqual(
    Object.entries({ due: 1, scheduled: 2, running: 3, parked: 4, failing: 5, paused: 6 }).map(
      ([state, count]) => `drover_queue_keys{controller="web/sites",state="${state}"} ${count}`,
    ),
  );
  expect(await scraped(registry, "drover_queue_oldest_due_seconds")).toEqual([
    'drover_queue_oldest_due_seconds{controller="web/sites"} 2.5',
  ]);
  queues = [];
  expect(await scraped(registry, "drover_queue_keys")).toEqual([]);
  expect(await scraped(registry, "drover_queue_oldest_due_seconds")).toEqual([]);
});

it("runs are counted by outcome, arrival of the key and read of the object, and measured in seconds", async () => {
  const registry = openRegistry();
  const metrics = runMetrics(registry);
  const run = runOf("w");
  metrics.settled("web/sites/u", run, { kind: "done" }, 1_500, "dequeued");
  metrics.settled(
    "web/sites/u",
    { ...run, claim: { ...run.claim, cachedObject: "{}" } },
    { kind: "conflict" },
    500,
    "assigned",
  );
  expect(await scraped(registry, "drover_runs_total")).toEqual([
    'drover_runs_total{controller="web/sites",verdict="done"} 1',
    'drover_runs_total{controller="web/sites",verdict="conflict"} 1',
  ]);
  expect(await scraped(registry, "drover_run_arrivals_total")).toEqual([
    'drover_run_arrivals_total{controller="web/sites",by="dequeued",object="live"} 1',
    'drover_run_arrivals_total{controller="web/sites",by="assigned",object="copy"} 1',
  ]);
  expect(await scraped(registry, "drover_run_seconds_sum")).toEqual([
    'drover_run_seconds_sum{controller="web/sites"} 2',
  ]);
});
