import { startRedis } from "@drover/local-servers";
import { writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { startBridge } from "../../bridge/contenders/drover.ts";
import { bundledBridge } from "../../bridge/contenders/shipped-bridge.ts";
import { startAsImage } from "../../bridge/contenders/start-as-image.ts";
import type { Started } from "../../bridge/contenders/start-process.ts";
import { bundle } from "../../../infra/bundle.ts";
import { gauges } from "../cluster/gauges.ts";
import { atWork, type Ground, type Peer } from "./peer.ts";

/** What it is to the bridge, and to the gateway where it is called. */
export const declared = (copies: boolean) => gauges.reconcileFunction({ copies });

/** Processes of Drover's, on one stage. */
export interface Workers {
  /** In the order in which they are to end. */
  start(): Promise<readonly Started[]>;
  /** Where they write down how often they ran. */
  readonly runsFiles: readonly string[];
  close(): Promise<void>;
}

export interface WorkingGround extends Ground {
  readonly redisUrl: string;
}

type Placing = (ground: WorkingGround) => Workers | Promise<Workers>;

/** Drover's processes, and a Redis that syncs its writes to disk. `prepare` builds missing bundles. */
const onRedis = (name: string, prepare: () => Promise<Placing>): Peer => ({
  name,
  async prepare() {
    const place = await prepare();
    return async (ground) => {
      const redis = await startRedis({ persistence: true });
      const workers = await place({ ...ground, redisUrl: redis.url });
      return {
        beside: { Redis: redis.pid },
        start: async () => atWork(await workers.start(), workers.runsFiles),
        async close() {
          await workers.close();
          await redis.stop();
        },
      };
    };
  },
});

interface How {
  readonly name: string;
  /** Runs are given copies of changed objects; else they read live. */
  readonly copies: boolean;
  /** Where the bridge learns of the function. Default: of a file. */
  readonly registeredBy?: "file" | "cluster";
  readonly prepare: () => Promise<Placing>;
}

/** A bridge, and the process that takes its keys; both are the bundles of their images. */
export const droverWith = ({ name, copies, registeredBy = "file", prepare }: How): Peer =>
  onRedis(name, async () => {
    const main = await bundledBridge();
    const place = await prepare();
    return async (ground) => {
      const { kubeconfig, folder, redisUrl } = ground;
      const functions = join(folder, "gauge.yaml");
      await writeFile(functions, JSON.stringify(declared(copies)));
      const workers = await place(ground);
      return {
        ...workers,
        async start() {
          const logFile = join(folder, "bridge.log");
          const [bridge, started] = await Promise.all([
            startBridge({
              kubeconfig,
              redisUrl,
              main,
              logFile,
              functions: registeredBy === "file" ? functions : undefined,
            }),
            workers.start(),
          ]);
          return [{ ...bridge.process, name: "bridge" }, ...started];
        },
      };
    };
  });

/** Processes that take keys from Redis, by their main module. */
const taking = async (main: string, copies: boolean, processes = 1): Promise<Placing> => {
  const { file } = await bundle(`bench-gauge-${basename(main, ".ts")}`, main);
  const ids = Array.from({ length: processes }, (_, i) => (i === 0 ? "controller" : `controller ${i + 1}`));
  return ({ kubeconfig, redisUrl, folder, workers, workMs }) => {
    const runsFileOf = (id: string): string => join(folder, `${id}.runs`);
    const startWorker = (id: string): Promise<Started> =>
      startAsImage({
        name: id,
        main: file,
        logFile: join(folder, `${id}.log`),
        env: {
          DROVER_KUBECONFIG: kubeconfig,
          DROVER_REDIS_URL: redisUrl,
          DROVER_CONCURRENCY: String(workers),
          DROVER_WORK_MS: String(workMs),
          DROVER_RUNS_FILE: runsFileOf(id),
          DROVER_COPIES: String(copies),
        },
      });
    return {
      start: () => Promise.all(ids.map(startWorker)),
      runsFiles: ids.map(runsFileOf),
      close: () => Promise.resolve(),
    };
  };
};

const controllers = "bench/peers/controllers/drover";
const pulling = (name: string, copies: boolean, processes?: number): Peer =>
  droverWith({ name, copies, prepare: () => taking(`${controllers}/main.ts`, copies, processes) });

export const drover = pulling("Drover", true);
export const readingLive = pulling("Drover, reading live", false);
/** Slow work is spread over more processes. */
export const spreadOut = [2, 4, 8].map((processes) =>
  pulling(`Drover, ${processes} processes`, true, processes),
);
/** Bridge and function are one process. */
export const droverEmbedded = onRedis("Drover, embedded", () => taking(`${controllers}/embedded.ts`, true));
