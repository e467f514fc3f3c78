import { type Forwarder, startForwarder } from "@drover/local-servers";
import { type RealCluster, startRealCluster } from "@drover/real-cluster";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Audited, startAudited } from "./audited.ts";
import { auditPolicy } from "./audit-log.ts";
import { install } from "./numbered-kind.ts";
import { widgets } from "./widgets.ts";

/** A real API server that serves Widgets, and what is needed to count what is asked of it. */
export interface BenchCluster extends Omit<Audited<RealCluster>, "cluster" | "stop">, AsyncDisposable {
  readonly real: RealCluster;
  /** Leads to the API server through `wire`. */
  readonly kubeconfig: string;
  readonly wire: Forwarder;
  /** The bridge's `DROVER_FUNCTIONS`. */
  readonly functions: string;
}

export async function startBenchCluster(log: (line: string) => void): Promise<BenchCluster> {
  await using stack = new AsyncDisposableStack();
  const start = (apiServerArgs: readonly string[]) => startRealCluster({ apiServerArgs, log });
  const audited = stack.adopt(await startAudited(auditPolicy, start), (cluster) => cluster.stop());
  const { cluster: real, api, audit, folder } = audited;
  const file = (name: string): string => join(folder, name);
  await writeFile(file("widgets.yaml"), JSON.stringify(widgets.reconcileFunction({})));
  const wire = stack.adopt(await startForwarder(Number(new URL(real.url).port)), (it) => it.stop());
  const config = await readFile(real.kubeconfig, "utf8");
  const kubeconfig = file("kubeconfig");
  await writeFile(kubeconfig, config.replaceAll(real.url, `https://127.0.0.1:${wire.port}`), { mode: 0o600 });
  await install(api, widgets);
  const running = stack.move();
  return {
    real,
    api,
    audit,
    folder,
    kubeconfig,
    wire,
    functions: file("widgets.yaml"),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
