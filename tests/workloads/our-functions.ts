import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawnTied, startRedis, type TiedProcess } from "@drover/local-servers";

const root = new URL("../..", import.meta.url).pathname;
const names = ["replicaset", "deployment"] as const;

/** Drover's functions for both kinds, as people run them: a bridge and a process for each, with a Redis that keeps what it hears. */
export interface OurFunctions {
  readonly processes: Readonly<Record<"bridge" | (typeof names)[number], TiedProcess>>;
  readonly redis: { readonly url: string; readonly pid: number };
  stop(): Promise<void>;
}

export async function start(kubeconfig: string): Promise<OurFunctions> {
  const folder = mkdtempSync(join(tmpdir(), "drover-workloads-"));
  for (const name of names) {
    copyFileSync(join(root, "functions", name, "deploy/function.yaml"), join(folder, `${name}.yaml`));
  }
  const redis = await startRedis({ persistence: true });
  const run = async (name: string, main: string, awaited: RegExp, times: number) => {
    const ready = Promise.withResolvers<undefined>();
    let left = times;
    const child = await spawnTied({
      command: process.execPath,
      args: [join(root, main)],
      name,
      logFile: join(folder, `${name}.log`),
      env: {
        NODE_COMPILE_CACHE: join(root, ".cache/compiled"),
        DROVER_REDIS_URL: redis.url,
        DROVER_KUBECONFIG: kubeconfig,
        ...(name === "bridge" ? { DROVER_FUNCTIONS: folder } : { DROVER_CONCURRENCY: "16" }),
      },
      onLine(line) {
        if (awaited.test(line) && --left === 0) ready.resolve(undefined);
      },
    });
    const died = child.exited.then(() => {
      throw new Error(`${name} ended before it was ready:\n${readFileSync(child.logFile, "utf8")}`);
    });
    await Promise.race([ready.promise, died]);
    return child;
  };
  const worker = (name: (typeof names)[number]) =>
    run(name, `functions/${name}/src/main.ts`, /Taking keys/, 1);
  const [bridge, replicaset, deployment] = await Promise.all([
    // Of three kinds.
    run("bridge", "apps/bridge/src/main.ts", /; watching/, 3),
    worker("replicaset"),
    worker("deployment"),
  ]);
  const processes = { bridge, replicaset, deployment };
  return {
    processes,
    redis,
    async stop() {
      await Promise.all(Object.values(processes).map((child) => child.stop()));
      await redis.stop();
      rmSync(folder, { recursive: true });
    },
  };
}
