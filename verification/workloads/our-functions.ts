import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startRedis, thisMachine, type TiedProcess } from "@drover/local-servers";
import { root } from "../harness/repository-files.ts";
import { crash, startProcess } from "../harness/start-process.ts";
import { accountThatMay, type Administered, type Rule, rulesIn } from "./sequences/accounts.ts";

/** Main module of each process, and the log line, with its count, of a started one. */
const parts = {
  // Of three kinds.
  bridge: { main: "apps/bridge/src/main.ts", awaited: "; watching", times: 3 },
  replicaset: { main: "functions/replicaset/src/main.ts", awaited: "Taking keys", times: 1 },
  deployment: { main: "functions/deployment/src/main.ts", awaited: "Taking keys", times: 1 },
} as const;
export type Part = keyof typeof parts;

/** Drover's functions for both kinds, as people run them: a bridge and a process for each, with a persistent Redis. */
export interface OurFunctions {
  /** Of Redis, too. */
  pids(): readonly number[];
  /** SIGKILL, and a new process in its place; resolves when that is there. */
  restart(part: Part): Promise<void>;
  stop(): Promise<void>;
}

export async function start(cluster: Administered): Promise<OurFunctions> {
  const folder = mkdtempSync(join(tmpdir(), "drover-workloads-"));
  const manifests = join(folder, "functions");
  mkdirSync(manifests);
  for (const name of ["replicaset", "deployment"])
    copyFileSync(join(root, "functions", name, "deploy/function.yaml"), join(manifests, `${name}.yaml`));
  const kubeconfigs = await kubeconfigsFor(cluster, folder, manifests);
  const redis = await startRedis({ persistence: true });
  const run = (part: Part): Promise<TiedProcess> =>
    startProcess({
      ...parts[part],
      name: part,
      // Times in conditions are compared with those of kube-controller-manager, which uses this clock.
      machine: thisMachine,
      logFile: join(folder, `${part}.log`),
      env: {
        DROVER_REDIS_URL: redis.url,
        DROVER_KUBECONFIG: kubeconfigs[part],
        ...(part === "bridge" ? { DROVER_FUNCTIONS: manifests } : { DROVER_CONCURRENCY: "16" }),
      },
    });
  const [bridge, replicaset, deployment] = await Promise.all([
    run("bridge"),
    run("replicaset"),
    run("deployment"),
  ]);
  const children: Record<Part, TiedProcess> = { bridge, replicaset, deployment };
  return {
    pids: () => [redis.pid, ...Object.values(children).map(({ pid }) => pid)],
    async restart(part) {
      await crash(children[part]);
      children[part] = await run(part);
    },
    async stop() {
      await Promise.all(Object.values(children).map((child) => child.stop()));
      await redis.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

async function kubeconfigsFor(
  cluster: Administered,
  folder: string,
  manifests: string,
): Promise<Record<Part, string>> {
  const replicaset = rulesIn(join(manifests, "replicaset.yaml"));
  const deployment = rulesIn(join(manifests, "deployment.yaml"));
  const account = (part: Part, rules: readonly Rule[]) =>
    accountThatMay(cluster, { name: `drover-${part}`, rules, folder });
  return {
    bridge: await account("bridge", [...replicaset.bridge, ...deployment.bridge]),
    replicaset: await account("replicaset", replicaset.function),
    deployment: await account("deployment", deployment.function),
  };
}
