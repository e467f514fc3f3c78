import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startRedis, thisMachine, type TiedProcess } from "@drover/local-servers";
import { root } from "../harness/repository-files.ts";
import { crash, startProcess } from "../harness/start-process.ts";
import type { Family, FunctionName } from "./family.ts";
import { accountThatMay, type Administered, type Rule, rulesIn } from "./sequences/accounts.ts";

/** The process that runs all functions, a folder in `apps`. */
const oneProcess = "controller-manager";
type Process = "bridge" | FunctionName | typeof oneProcess;
export type Part = Process | "redis";

/** Functions of Drover, as people run them: a bridge, and a process for each or one for all, with a persistent Redis. */
export interface OurFunctions {
  /** All that `restart` can restart. */
  readonly parts: readonly Part[];
  /** Of Redis, too. */
  pids(): readonly number[];
  /** SIGKILL, and a new process in its place; resolves when that is there. */
  restart(part: Part): Promise<void>;
  stop(): Promise<void>;
}

/** How our functions run. */
export interface StartOptions {
  /** All of them in one process. */
  readonly inOneProcess?: boolean;
}

/** The functions of these families, with the settings that the families ask for. */
export async function startFunctions(
  cluster: Administered,
  families: readonly Pick<Family, "functions" | "settings">[],
  { inOneProcess = false }: StartOptions = {},
): Promise<OurFunctions> {
  const names = families.flatMap(({ functions }) => functions);
  const settings = new Map<Process, Family["settings"]>(
    families.flatMap((family) => family.functions.map((name) => [name, family.settings])),
  );
  const folder = mkdtempSync(join(tmpdir(), "drover-workloads-"));
  const manifests = join(folder, "functions");
  mkdirSync(manifests);
  const rules = names.map((name) => {
    const manifest = join(manifests, `${name}.yaml`);
    copyFileSync(join(root, "functions", name, "deploy/function.yaml"), manifest);
    return { name, ...rulesIn(manifest) };
  });
  const kubeconfigs = new Map<Process, string>();
  const account = async (part: Process, granted: readonly Rule[]): Promise<void> => {
    kubeconfigs.set(part, await accountThatMay(cluster, { name: `drover-${part}`, rules: granted, folder }));
  };
  const watching = rules.flatMap(({ bridge }) => bridge);
  await account("bridge", watching);
  const together = rules.flatMap(({ function: granted }) => granted);
  const functions = inOneProcess
    ? [{ name: oneProcess, function: together } as const]
    : rules.map(({ name, function: granted }) => ({ name, function: granted }));
  for (const { name, function: granted } of functions) await account(name, granted);
  const redis = await startRedis({ persistence: true });
  const children = new Map<Process, TiedProcess>();
  const watchedKinds = new Set(
    watching.map(({ apiGroups, resources }) => `${apiGroups.join()} ${resources.join()}`),
  );
  const startOf = (part: Process) => {
    if (part === "bridge")
      return { main: "apps/bridge/src/main.ts", awaited: "; watching", times: watchedKinds.size };
    const taking = { awaited: "Taking keys" };
    if (part !== oneProcess) return { ...taking, main: `functions/${part}/src/main.ts` };
    const args = [`--controllers=${names.join(",")}`];
    return { ...taking, main: `apps/${part}/src/main.ts`, args, times: names.length };
  };
  const run = async (part: Process): Promise<void> => {
    const child = await startProcess({
      // The log line, with its count, of a started one.
      ...startOf(part),
      name: part,
      // Times in conditions are compared with those of kube-controller-manager, which uses this clock.
      machine: thisMachine,
      logFile: join(folder, `${part}.log`),
      env: {
        DROVER_REDIS_URL: redis.url,
        DROVER_KUBECONFIG: kubeconfigs.get(part) ?? "",
        ...(part === "bridge"
          ? { DROVER_FUNCTIONS: manifests }
          : { DROVER_CONCURRENCY: "16", ...settings.get(part) }),
      },
    });
    children.set(part, child);
  };
  await Promise.all(["bridge" as const, ...functions.map(({ name }) => name)].map(run));
  return {
    parts: ["redis", ...children.keys()],
    pids: () => [redis.pid, ...[...children.values()].map(({ pid }) => pid)],
    async restart(part) {
      if (part === "redis") {
        await redis.kill();
        await redis.restart();
        return;
      }
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
