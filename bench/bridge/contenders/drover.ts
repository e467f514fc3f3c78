import { freePort } from "@drover/local-servers";
import { join } from "node:path";
import { now } from "../../../verification/harness/clock.ts";
import { queue } from "../cluster/widgets.ts";
import { startAsImage } from "./start-as-image.ts";
import { type Started, startProcess, untilSo } from "./start-process.ts";

const root = new URL("../../..", import.meta.url).pathname;
/** A worker from sources is compiled once, not at each start. */
const compiled = { NODE_COMPILE_CACHE: join(root, ".cache/compiled") };

/** The bridge with its default settings and the Node options of its image. */
export interface Bridge {
  readonly process: Started;
  /** Resolves when `/readyz` answers 200, with the ms since the start. */
  readonly ready: () => Promise<number>;
  /** The text of `/metrics`. */
  metrics(): Promise<string>;
}

export interface BridgeOptions {
  readonly kubeconfig: string;
  /** A file of ReconcileFunctions; left out: those of the cluster. */
  readonly functions?: string | undefined;
  readonly redisUrl: string;
  readonly logFile: string;
  /** The main module: a bundle, or the sources. */
  readonly main: string;
}

export async function startBridge({
  kubeconfig,
  functions,
  redisUrl,
  logFile,
  main,
}: BridgeOptions): Promise<Bridge> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = await startAsImage({
    name: "the bridge",
    main,
    logFile,
    env: {
      KUBECONFIG: undefined,
      DROVER_KUBECONFIG: kubeconfig,
      DROVER_REDIS_URL: redisUrl,
      ...(functions === undefined ? { DROVER_AUTHORS: "trusted" } : { DROVER_FUNCTIONS: functions }),
      DROVER_HTTP_PORT: String(port),
    },
  });
  const isReady = (): Promise<boolean> =>
    fetch(`${url}/readyz`).then(
      (answer) => answer.ok,
      () => false,
    );
  return {
    process: child,
    async ready() {
      await untilSo(child, "ready", isReady);
      return now() - child.startedAt;
    },
    metrics: () => fetch(`${url}/metrics`).then((answer) => answer.text()),
  };
}

/** A process that takes the controller's keys and does nothing. */
export function startNoopWorker(options: {
  readonly redisUrl: string;
  readonly runs: string;
  readonly logFile: string;
}): Promise<Started> {
  const { redisUrl: url, runs, logFile } = options;
  return startProcess({
    name: "the no-op worker",
    command: process.execPath,
    args: [
      join(import.meta.dirname, "../processes/noop-worker.ts"),
      JSON.stringify({ url, queue, runs, concurrency: defaultConcurrency }),
    ],
    logFile,
    env: compiled,
  });
}

/** The default of a controller. */
const defaultConcurrency = 8;
