import { type FakeNodeCluster, startClusterWithFakeNodes } from "@drover/real-cluster";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Api, openApi } from "../bridge/cluster/api.ts";
import { type AuditLines, audited } from "../bridge/cluster/audit-lines.ts";
import { auditPolicy } from "./audit-log.ts";
import { type DeploymentsWatch, watchDeployments } from "./deployments-watch.ts";

/** A whole control plane with fake nodes, and the tools that measure the contestant that works on it. */
export interface Stage {
  readonly cluster: FakeNodeCluster;
  readonly api: Api;
  readonly audit: AuditLines;
  readonly deployments: DeploymentsWatch;
  stop(): Promise<void>;
}

export async function setStage(log: (line: string) => void): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), "drover-bench-workloads-"));
  const { apiServerArgs, lines: audit } = await audited(folder, auditPolicy);
  const cluster = await startClusterWithFakeNodes({ nodes: 10, apiServerArgs, log });
  const api = openApi(cluster.kubeconfig);
  const deployments = watchDeployments(api);
  return {
    cluster,
    api,
    deployments,
    audit,
    async stop() {
      deployments.stop();
      api.close();
      await cluster.stop();
      await rm(folder, { recursive: true });
    },
  };
}
