import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startRedis, thisMachine, type TiedProcess } from "@drover/local-servers";
import { root } from "../harness/repository-files.ts";
import { crash, startProcess } from "../harness/start-process.ts";
import { accountThatMay, type Administered, type Rule, rulesIn } from "./sequences/accounts.ts";

/** Folders in `functions`. */
type FunctionName = "replicaset" | "deployment" | "job";
export type Part = "bridge" | FunctionName;

/** Functions of Drover, as people run them: a bridge and a process for each, with a persistent Redis. */
export interface OurFunctions {
  /** Of Redis, too. */
  pids(): readonly number[];
  /** SIGKILL, and a new process in its place; resolves when that is there. */
  restart(part: Part): Promise<void>;
  stop(): Promise<void>;
}

/** The functions for Deployments and ReplicaSets. */
export const start = (cluster: Administered): Promise<OurFunctions> =>
  startFunctions(cluster, ["replicaset", "deployment"]);

export async function startFunctions(
  cluster: Administered,
  names: readonly FunctionName[],
): Promise<OurFunctions> {
  const folder = mkdtempSync(join(tmpdir(), "drover-workloads-"));
  const manifests = join(folder, "functions");
  mkdirSync(manifests);
  const rules = names.map((name) => {
    const manifest = join(manifests, `${name}.yaml`);
    copyFileSync(join(root, "functions", name, "deploy/function.yaml"), manifest);
    return { name, ...rulesIn(manifest) };
  });
  const kubeconfigs = new Map<Part, string>();
  const account = async (part: Part, granted: readonly Rule[]): Promise<void> => {
    kubeconfigs.set(part, await accountThatMay(cluster, { name: `drover-${part}`, rules: granted, folder }));
  };
  const watching = rules.flatMap(({ bridge }) => bridge);
  await account("bridge", watching);
  for (const { name, function: granted } of rules) await account(name, granted);
  const redis = await startRedis({ persistence: true });
  const children = new Map<Part, TiedProcess>();
  const watchedKinds = new Set(
    watching.map(({ apiGroups, resources }) => `${apiGroups.join()} ${resources.join()}`),
  );
  const run = async (part: Part): Promise<void> => {
    const child = await startProcess({
      // The log line, with its count, of a started one.
      ...(part === "bridge"
        ? { main: "apps/bridge/src/main.ts", awaited: "; watching", times: watchedKinds.size }
        : { main: `functions/${part}/src/main.ts`, awaited: "Taking keys", times: 1 }),
      name: part,
      // Times in conditions are compared with those of kube-controller-manager, which uses this clock.
      machine: thisMachine,
      logFile: join(folder, `${part}.log`),
      env: {
        DROVER_REDIS_URL: redis.url,
        DROVER_KUBECONFIG: kubeconfigs.get(part) ?? "",
        ...(part === "bridge" ? { DROVER_FUNCTIONS: manifests } : { DROVER_CONCURRENCY: "16" }),
      },
    });
    children.set(part, child);
  };
  await Promise.all((["bridge", ...names] as const).map(run));
  return {
    pids: () => [redis.pid, ...[...children.values()].map(({ pid }) => pid)],
    async restart(part) {
      const child = children.get(part);
      if (child === undefined) throw new Error(`No ${part} runs.`);
      await crash(child);
      await run(part);
    },
    async stop() {
      await Promise.all([...children.values()].map((child) => child.stop()));
      await redis.stop();
      rmSync(folder, { recursive: true });
    },
  };
}
