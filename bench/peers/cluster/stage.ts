import { type RealCluster, startRealCluster } from "@drover/real-cluster";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inParallel, openApi } from "../../bridge/cluster/api.ts";
import { untilStreamed } from "../../bridge/cluster/population.ts";
import { type AuditLines, audited } from "../../bridge/cluster/audit-lines.ts";
import { auditPolicy } from "../../workloads/audit-log.ts";
import { install, type Key } from "../../bridge/cluster/numbered-kind.ts";
import { gauge, gauges } from "./gauges.ts";
import { type Judge, openJudge } from "./judge.ts";

/** An API server, and the tools that measure the peer that works on it. */
export interface Stage {
  readonly cluster: RealCluster;
  readonly audit: AuditLines;
  readonly judge: Judge;
  /** For logs; goes away with the stage. */
  readonly folder: string;
  /** So many Gauges, of turn 0. */
  populate(count: number): Promise<readonly Key[]>;
  /** Asks for another turn. */
  change(key: Key, turn: number): Promise<unknown>;
  /** Asks for what fails whenever it is tried. */
  spoil(key: Key): Promise<unknown>;
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
  await install(api, gauges);
  await untilStreamed(api, gauges.collection);
  const judge = openJudge(api);
  const patch = (key: Key, spec: object): Promise<string> =>
    api.send("PATCH", gauges.pathOf(key), {
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
        api.send("POST", gauges.createPath(gauges.keyOf(i)), {
          type: "application/json",
          content: gauge(gauges.keyOf(i)),
        }),
      );
      return Array.from({ length: count }, (_, i) => gauges.keyOf(i));
    },
    change: (key, turn) => patch(key, { turn }),
    spoil: (key) => patch(key, { fails: true }),
    async clear() {
      for (const namespace of gauges.namespaces) await api.send("DELETE", gauges.collectionIn(namespace));
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
