import { type RealCluster, startRealCluster } from "@drover/real-cluster";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Api, inParallel, openApi } from "../../bridge/cluster/api.ts";
import { untilStreamed } from "../../bridge/cluster/population.ts";
import { until } from "../../bridge/cluster/bench-cluster.ts";
import { type AuditLines, audited } from "../../bridge/cluster/audit-lines.ts";
import { auditPolicy } from "../../workloads/audit-log.ts";
import {
  collectionOf,
  crd,
  createPath,
  everywhere,
  gauge,
  type GaugeKey,
  gaugeKey,
  namespaces,
  objectPath,
} from "./gauges.ts";
import { type Judge, openJudge } from "./judge.ts";

/** An API server, and the tools that measure the peer that works on it. */
export interface Stage {
  readonly cluster: RealCluster;
  readonly audit: AuditLines;
  readonly judge: Judge;
  /** For logs; goes away with the stage. */
  readonly folder: string;
  /** So many Gauges, of turn 0. */
  populate(count: number): Promise<readonly GaugeKey[]>;
  /** Asks for another turn. */
  change(key: GaugeKey, turn: number): Promise<unknown>;
  /** Asks for what fails whenever it is tried. */
  spoil(key: GaugeKey): Promise<unknown>;
  /** Deletes all Gauges. */
  clear(): Promise<void>;
  stop(): Promise<void>;
}

/** Requests of the bench under way at once. */
export const atOnce = 64;

export async function setStage(log: (line: string) => void): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), "drover-bench-"));
  const { apiServerArgs, lines: audit } = await audited(folder, auditPolicy);
  const cluster = await startRealCluster({ apiServerArgs, log });
  const api = openApi(cluster.kubeconfig);
  await install(api);
  const judge = openJudge(api);
  const patch = (key: GaugeKey, spec: object): Promise<string> =>
    api.send("PATCH", objectPath(key), {
      type: "application/merge-patch+json",
      content: { spec },
    });
  return {
    cluster,
    audit,
    judge,
    folder,
    async populate(count) {
      await inParallel(count, atOnce, (i) =>
        api.send("POST", createPath(gaugeKey(i)), {
          type: "application/json",
          content: gauge(gaugeKey(i)),
        }),
      );
      return Array.from({ length: count }, (_, i) => gaugeKey(i));
    },
    change: (key, turn) => patch(key, { turn }),
    spoil: (key) => patch(key, { fails: true }),
    async clear() {
      for (const namespace of namespaces) await api.send("DELETE", collectionOf(namespace));
      await judge.none();
    },
    async stop() {
      judge.stop();
      api.close();
      await cluster.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function install(api: Api): Promise<void> {
  const post = (path: string, content: object): Promise<string> =>
    api.send("POST", path, { type: "application/json", content });
  await post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd);
  for (const name of namespaces) await post("/api/v1/namespaces", { metadata: { name } });
  await until(() => api.send("GET", `${everywhere}?limit=1`));
  await untilStreamed(api, everywhere);
}
