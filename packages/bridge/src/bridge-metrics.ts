import { queueDisplayName } from "@drover/controller";
import { resourceNameOf } from "@drover/kube";
import { Counter, Gauge, type Registry } from "prom-client";
import type { Bridge } from "./bridge.ts";
import type { FollowedStream } from "./streams/follow-stream.ts";

/** Metrics of the streams that this bridge holds, read at each scrape. */
export function bridgeMetrics(registry: Registry, bridge: Bridge): void {
  const gauge = (name: string, help: string, read: (stream: FollowedStream) => number): void => {
    new Gauge({
      name,
      help,
      labelNames: ["kind", "namespace"],
      registers: [registry],
      collect() {
        this.reset();
        for (const stream of bridge.followed()) this.set(labelsOf(stream), read(stream));
      },
    });
  };
  const status = ({ reflector }: FollowedStream) => reflector.status();
  gauge(
    "drover_stream_silent_seconds",
    "Seconds since the stream received its last byte.",
    (s) => status(s).silentFor / 1_000,
  );
  gauge("drover_stream_synced", "1 once the kind has been listed completely.", (s) =>
    Number(status(s).synced),
  );
  gauge("drover_stream_degraded", "1 while the kind cannot be watched until an operator acts.", (s) =>
    Number(status(s).degraded !== undefined),
  );
  gauge("drover_stream_relists", "Listings beyond the first.", (s) => status(s).relists);
  gauge("drover_stream_reconnects", "Watches beyond the first.", (s) => status(s).reconnects);
  gauge(
    "drover_stream_comparisons",
    "Comparisons of the emitted changes with a list.",
    (s) => status(s).comparisons,
  );
  gauge(
    "drover_stream_queues_behind",
    "Queues that do not accept the wakes of the stream.",
    (s) => s.lags().length,
  );
  lagMetrics(registry, bridge);
  campaignMetrics(registry, bridge);
  countMetrics(registry, bridge);
}

/** A stream of all namespaces has no `namespace` label. */
const labelsOf = ({ plan: { ref, namespace } }: FollowedStream) => ({
  kind: resourceNameOf(ref),
  ...(namespace !== undefined && { namespace }),
});

function countMetrics(registry: Registry, bridge: Bridge): void {
  const counter = (name: string, help: string, read: (stream: FollowedStream) => number): void => {
    const counted = new WeakMap<FollowedStream, number>();
    new Counter({
      name,
      help,
      labelNames: ["kind", "namespace"],
      registers: [registry],
      collect() {
        for (const stream of bridge.followed()) {
          const now = read(stream);
          this.inc(labelsOf(stream), now - (counted.get(stream) ?? 0));
          counted.set(stream, now);
        }
      },
    });
  };
  counter(
    "drover_stream_events_total",
    "Objects that were added, modified or deleted.",
    (s) => s.counts.events,
  );
  counter("drover_stream_wakes_total", "Wakes sent to queues.", (s) => s.counts.wakes);
  counter(
    "drover_stream_missed_total",
    "Changes that the watch missed and a list found.",
    (s) => s.counts.missed,
  );
}

function lagMetrics(registry: Registry, bridge: Pick<Bridge, "followed">): void {
  new Gauge({
    name: "drover_stream_queue_behind_seconds",
    help: "Seconds for which a queue has not accepted the wakes of the stream; absent for queues that accept them.",
    labelNames: ["kind", "namespace", "queue"],
    registers: [registry],
    collect() {
      this.reset();
      for (const stream of bridge.followed())
        for (const { queue, since } of stream.lags())
          this.set(
            { ...labelsOf(stream), queue: queueDisplayName(queue) },
            Math.max(0, Date.now() - since) / 1_000,
          );
    },
  });
}

function campaignMetrics(registry: Registry, bridge: Pick<Bridge, "campaigns">): void {
  new Gauge({
    name: "drover_campaign_left",
    help: "Objects without a run that started since the controller's last campaign began.",
    labelNames: ["controller", "campaign"],
    registers: [registry],
    collect() {
      this.reset();
      for (const [controller, { name: campaign, left }] of bridge.campaigns())
        this.set({ controller: queueDisplayName(controller), campaign }, left);
    },
  });
}
