import { messageOf, type Milliseconds } from "@drover/controller";
import { connect, type KubeClient } from "@drover/kube";
import { connectRedis, disconnectRedis } from "@drover/queue";
import { once } from "node:events";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { defaultKubeconfig } from "./config.ts";
import type { ProcessSettings } from "./function-settings.ts";
import { openLog } from "./log.ts";
import { closeAll, type Closeable, logUncaught, stopOnSignals } from "./process-lifecycle.ts";
import { openRegistry } from "./process-metrics.ts";
import {
  type JsonEndpoint,
  type ReadinessCheck,
  serveProcess,
  defaultMetricsAuth,
} from "../http/process-server.ts";
import { kubernetesAuthorizer, allowAll } from "../http/read-authorizer.ts";

/** The resources that every process of Drover has. */
export interface Process<Settings extends ProcessSettings = ProcessSettings> {
  readonly settings: Settings;
  readonly log: Logger;
  readonly client: KubeClient;
  readonly redis: Awaited<ReturnType<typeof connectRedis>>;
  readonly registry: Registry;
  /** Fires when the process is asked to stop. */
  readonly stopping: AbortSignal;
  /** Adds a named check to `/readyz`. */
  readonly readiness: (name: string, check: ReadinessCheck) => void;
  /** Serves JSON below a path, at the address of `/healthz`. */
  readonly addEndpoint: (prefix: string, answer: JsonEndpoint) => void;
  /** Ends the process as SIGTERM does, but logs this error and sets exit code 1. */
  readonly fail: (error: Error) => void;
  /** Adds a resource to close at the end, before everything that was opened earlier. */
  readonly closing: (name: string, close: () => Promise<void>) => void;
}

export interface ProcessOptions<Settings extends ProcessSettings = ProcessSettings> {
  /**
   * If true, the process loads scripts into Redis, for itself and for functions, as bridges and deployers do. Default:
   * false.
   */
  readonly loadsScripts?: boolean;
  /** The version of Drover, for bridges and deployers: see `connectRedis`. Default: scripts are not recorded. */
  readonly recordScriptsAs?: string | undefined;
  /**
   * Completes the settings, such as the password of Redis, before the process connects to Redis. The process serves HTTP
   * already, and is not ready.
   */
  readonly complete?: (
    settings: Settings,
    process: Pick<Process, "client" | "log" | "stopping">,
  ) => Promise<Settings>;
}

/**
 * Opens what every process has, runs `main`, waits for SIGTERM or a failure, and closes in reverse order. Sets the exit
 * code: 0 after a clean stop, 1 after a failure, which is logged with the remedy.
 *
 * @param main sets the process up and returns. It must also return when `stopping` fires.
 */
export async function runProcess<Settings extends ProcessSettings>(
  name: string,
  read: () => Settings,
  main: (process: Process<Settings>) => void | Promise<void>,
  {
    loadsScripts = false,
    recordScriptsAs,
    complete = (settings) => Promise.resolve(settings),
  }: ProcessOptions<Settings> = {},
): Promise<void> {
  const opened: Closeable[] = [];
  let log = openLog({ process: name });
  logUncaught(() => log);
  let stop: AbortController | undefined;
  try {
    const settings = read();
    log = openLog({ process: name, level: settings.logLevel });
    stop = stopOnSignals(log);
    const stopped = once(stop.signal, "abort").then(() => exitAfter(settings.stopGrace + closeTimeout, log));
    const failed = Promise.withResolvers<never>();
    const scripts = { loadsScripts, recordScriptsAs };
    const base = await open({ name, settings, log, stopping: stop.signal, ...scripts, complete }, opened);
    await Promise.race([main({ ...base.process, fail: failed.reject }), failed.promise]);
    base.started();
    await Promise.race([stopped, failed.promise]);
  } catch (error) {
    log.fatal({ err: error }, messageOf(error));
    process.exitCode = 1;
    stop?.abort();
  }
  await closeAll(log, opened).catch(() => (process.exitCode = 1));
  log.info("Stopped");
  // An explicit exit, because Node may spin for ever while it closes connections to servers that were killed.
  process.exit();
}

/** Time for closing beyond the grace of the runs in progress, in case servers do not answer. */
const closeTimeout: Milliseconds = 5_000;

function exitAfter(span: Milliseconds, log: Logger): void {
  const leave = (): void => {
    log.error({ ms: span }, "Not everything could be closed in time. Exiting anyway: nothing is lost");
    process.exit(1);
  };
  setTimeout(leave, span).unref();
}

interface OpenOptions<Settings extends ProcessSettings> extends Required<ProcessOptions<Settings>> {
  readonly name: string;
  readonly settings: Settings;
  readonly log: Logger;
  readonly stopping: AbortSignal;
}

async function open<Settings extends ProcessSettings>(
  { name, settings: given, log, stopping, loadsScripts, recordScriptsAs, complete }: OpenOptions<Settings>,
  opened: Closeable[],
): Promise<{ process: Omit<Process<Settings>, "fail">; started: () => void }> {
  const closing = (part: string, close: () => Promise<void>): void => void opened.push({ name: part, close });
  const registry = openRegistry();
  const ready = new Map<string, ReadinessCheck>([["process", () => "is still starting"]]);
  const endpoints = new Map<string, JsonEndpoint>();
  const { kubeconfig = defaultKubeconfig(), kubeContext: context } = given;
  const client = await connect({
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    ...(context === undefined ? {} : { context }),
    userAgent: `drover-${name}`,
    log,
  });
  closing("kube", () => client.close());
  const { httpHost: host, httpPort: port, metricsAuth: auth = defaultMetricsAuth(host) } = given;
  const access = auth === "kubernetes" ? kubernetesAuthorizer(client) : allowAll;
  const server = await serveProcess({ host, port, registry, ready, endpoints, access, log });
  closing("http", () => server.close());
  log.info({ url: server.url, auth }, "Serving /healthz, /readyz and /metrics");
  const settings = await complete(given, { client, log, stopping });
  const { redisUrl: url, redisPasswordFile: password, redisCaFile: ca } = settings;
  const redis = await connectRedis({
    url,
    ...(password === undefined ? {} : { password }),
    ...(ca === undefined ? {} : { ca }),
    clientName: name,
    log,
    loadsScripts,
    recordScriptsAs,
  });
  closing("redis", () => disconnectRedis(redis));
  const readiness = (part: string, check: ReadinessCheck): void => void ready.set(part, check);
  return {
    process: {
      settings,
      log,
      client,
      redis,
      registry,
      stopping,
      closing,
      readiness,
      addEndpoint: (prefix, answer) => void endpoints.set(prefix, answer),
    },
    started: () => void ready.delete("process"),
  };
}
