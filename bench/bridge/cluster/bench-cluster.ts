import { type RealCluster, startRealCluster } from "@drover/real-cluster";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Api, openApi } from "./api.ts";
import { audited } from "./audit-lines.ts";
import { type AuditLog, auditLog, auditPolicy } from "./audit-log.ts";
import { type CountingForwarder, startCountingForwarder } from "./counting-forwarder.ts";
import { install } from "./numbered-kind.ts";
import { widgets } from "./widgets.ts";

/** A real API server that serves Widgets, and what is needed to count what is asked of it. */
export interface BenchCluster {
  readonly real: RealCluster;
  readonly api: Api;
  /** Leads to the API server through `wire`. */
  readonly kubeconfig: string;
  readonly wire: CountingForwarder;
  readonly audit: AuditLog;
  /** For logs and recordings; goes away with the cluster. */
  readonly folder: string;
  /** The bridge's `DROVER_FUNCTIONS`. */
  readonly functions: string;
  stop(): Promise<void>;
}

export async function startBenchCluster(log: (line: string) => void): Promise<BenchCluster> {
  const folder = await mkdtemp(join(tmpdir(), "drover-bench-"));
  const file = (name: string): string => join(folder, name);
  await writeFile(file("widgets.yaml"), JSON.stringify(widgets.reconcileFunction({})));
  const { apiServerArgs, lines } = await audited(folder, auditPolicy);
  const real = await startRealCluster({ apiServerArgs, log });
  const api = openApi(real.kubeconfig);
  const wire = await startCountingForwarder(Number(new URL(real.url).port));
  const config = await readFile(real.kubeconfig, "utf8");
  const kubeconfig = file("kubeconfig");
  await writeFile(kubeconfig, config.replaceAll(real.url, `https://127.0.0.1:${wire.port}`), { mode: 0o600 });
  const stop = async (): Promise<void> => {
    api.close();
    wire.stop();
    await real.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await install(api, widgets);
  } catch (error) {
    await stop();
    throw error;
  }
  const audit = auditLog(lines);
  return { real, api, kubeconfig, wire, audit, folder, functions: file("widgets.yaml"), stop };
}
