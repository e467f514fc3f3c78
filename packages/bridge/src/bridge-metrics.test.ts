import { builtin } from "@drover/kube";
import { openRegistry } from "@drover/runtime";
import { expect, it } from "vitest";
import type { Bridge } from "./bridge.ts";
import { bridgeMetrics } from "./bridge-metrics.ts";
import type { FollowedStream } from "./streams/follow-stream.ts";

const stream = (namespace?: string): FollowedStream & { counts: { wakes: number } } =>
  ({
    plan: { ref: builtin.pod, namespace },
    reflector: {
      status: () => ({
        synced: true,
        degraded: undefined,
        silentFor: 1_500,
        relists: 2,
        reconnects: 3,
        comparisons: 4,
      }),
    },
    counts: { wakes: 0, events: 0, missed: 0 },
    lags: () => [{ queue: "web/sites/u", since: Date.now() - 9_000, why: "" }],
  }) as unknown as FollowedStream & { counts: { wakes: number } };

it("counters continue across scrapes and restarted streams; gauges show the streams that are followed now", async () => {
  const registry = openRegistry();
  let followed = [stream(), stream("a")];
  bridgeMetrics(registry, {
    followed: () => followed,
    campaigns: () =>
      new Map([["web/sites/u", { name: "june", state: "Running", startedAt: "", total: 5, left: 3 }]]),
  } as unknown as Bridge);
  const scraped = async (name: string) =>
    (await registry.metrics()).split("\n").filter((line) => line.startsWith(`${name}{`));
  followed[0]!.counts.wakes = 5;
  expect(await scraped("drover_stream_wakes_total")).toContain('drover_stream_wakes_total{kind="pods"} 5');
  followed[0]!.counts.wakes = 7;
  expect(await scraped("drover_stream_wakes_total")).toContain('drover_stream_wakes_total{kind="pods"} 7');
  followed = [stream()];
  followed[0]!.counts.wakes = 2;
  expect(await scraped("drover_stream_wakes_total")).toContain('drover_stream_wakes_total{kind="pods"} 9');
  expect(await scraped("drover_stream_silent_seconds")).toEqual([
    'drover_stream_silent_seconds{kind="pods"} 1.5',
  ]);
  expect(await scraped("drover_stream_queues_behind")).toEqual([
    'drover_stream_queues_behind{kind="pods"} 1',
  ]);
  expect((await scraped("drover_stream_queue_behind_seconds")).join()).toMatch(
    /queue="web\/sites"\} (9|1\d)/,
  );
  expect(await scraped("drover_campaign_left")).toEqual([
    'drover_campaign_left{controller="web/sites",campaign="june"} 3',
  ]);
});
