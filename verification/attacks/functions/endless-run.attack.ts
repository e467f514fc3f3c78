import { defineController, RetryAfterError } from "@drover/controller";
import { testCluster } from "@drover/testing";
import { exampleKind } from "../../harness/example-kind.ts";
import type { Attack } from "../attack.ts";

const Cup = exampleKind("Cup");

/** Highest number of runs in ten seconds with backoff, which doubles from half a second. */
const most = 12;

export const attack: Attack = {
  name: "a function that requeues itself at once is slowed down by backoff",
  kind: "work without an end",
  needs: [],
  async run() {
    const waits = () => Promise.reject(new RetryAfterError("Not yet.", { after: "1ms" }));
    const asks = () => Promise.resolve({ requeueAfter: "1ms" });
    const counts: number[] = [];
    for (const reconcile of [waits, asks]) {
      await using cluster = await testCluster(() => defineController({ for: Cup, reconcile }));
      await cluster.apply({ apiVersion: Cup.apiVersion, kind: Cup.kind, metadata: { name: "a" }, spec: {} });
      await cluster.advance("10s").catch(() => undefined);
      counts.push(cluster.runs.length);
    }
    return {
      succeeded: counts.some((count) => count > most || count === 0),
      evidence: `${counts.join(" and ")} runs in 10 s of the cluster's clock`,
    };
  },
};
