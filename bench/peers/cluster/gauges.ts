import { integer, text } from "../../bridge/cluster/schema-parts.ts";
import { type Key, numberedKind } from "../../bridge/cluster/numbered-kind.ts";

/** The kind that every peer reconciles: it writes `status.observedGeneration` when that is behind. */
export const gauges = numberedKind({
  group: "peers.drover.dev",
  kind: "Gauge",
  spec: { turn: integer, notes: text, fails: { type: "boolean" } },
  subresources: { status: {} },
});

/** The body of the request that creates it: 2 KiB. */
export const gauge = (key: Key): object =>
  gauges.object(
    key,
    { labels: { "app.kubernetes.io/name": "gauge" } },
    { spec: { turn: 0, notes: `${key} is there so that there is something to read. `.repeat(28) } },
  );
