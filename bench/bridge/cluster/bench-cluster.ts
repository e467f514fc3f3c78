import { type Forwarder, startForwarder } from "@drover/local-servers";
import { type RealCluster, startRealCluster } from "@drover/real-cluster";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Audited, startAudited } from "./audited.ts";
import { auditPolicy } from "./audit-log.ts";
import { install } from "./numbered-kind.ts";
import { widgets } from "./widgets.ts";

/** A real API server that serves Widgets, and what is needed to count what is asked of it. */
export interface BenchCluster extends Omit<Audited<RealCluster>, "cluster"> {
  readonly real: RealCluster;
  /** Leads to the API server through `wire`. */
  readonly kubeconfig: string;
  readonly wire: Forwarder;
  /** The bridge's `DROVER_FUNCTIONS`. */
  readonly functions: string;
}

export async function startBenchCluster(log: (line: string) => void): Promise<BenchCluster> {
  const { cluster: real, ...audited } = await startAudited(auditPolicy, (apiServerArgs) =>
    startRealCluster({ apiServerArgs, log }),
  );
  const file = (name: string): string => join(audited.folder, name);
  await writeFile(file("widgets.yaml"), JSON.stringify(widgets.reconcileFunction({})));
  const wire = await startForwarder(Number(new URL(real.url).port));
  const config = await readFile(real.kubeconfig, "utf8");
  const kubeconfig = file("kubeconfig");
  await writeFile(kubeconfig, config.replaceAll(real.url, `https://127.0.0.1:${wire.port}`), { mode: 0o600 });
  const stop = async (): Promise<void> => {
    await wire.stop();
    await audited.stop();
  };
  try {
    await install(audited.api, widgets);
  } catch (error) {
    await stop();
    throw error;
  }
  return { ...audited, real, kubeconfig, wire, functions: file("widgets.yaml"), stop };
}
