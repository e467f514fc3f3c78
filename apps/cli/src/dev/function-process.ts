import { type Exit, freePort, spawnTied, type TiedProcess, waitUntilReady } from "@drover/local-servers";
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { devNull } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { webhookFunction } from "../called/called-function.ts";
import { acceptsConnections } from "../called/function-process.ts";
import { CommandError } from "../command-error.ts";
import {
  calledFunctionEnvironment,
  type EnvironmentVariables,
  pulledFunctionEnvironment,
} from "../config.ts";
import type { FunctionManifest } from "../deploy/read-manifests.ts";
import { workCalled } from "./called-worker.ts";
import type { ClusterSession } from "./cluster/cluster-session.ts";
import type { DevServers } from "./dev-servers.ts";
import type { FunctionFolder } from "./function-folder.ts";
import { logTo, parseLogLine, takesKeys } from "./log-line.ts";
import type { Story } from "./story.ts";

/** The function that a process runs for, as its ReconcileFunction is in the API server. */
export interface RegisteredFunction {
  readonly identity: { readonly namespace: string; readonly name: string; readonly uid: string };
  readonly manifest: FunctionManifest;
}

export interface FunctionProcessOptions {
  readonly folder: FunctionFolder;
  readonly servers: DevServers;
  readonly story: Story;
  /** The session in a cluster; the process runs only its objects. */
  readonly cluster: Pick<ClusterSession, "session"> | undefined;
  /** A folder for temporary files, and for the secret of a function that is called. */
  readonly scratch: string;
}

/** A running process of the function. */
export interface FunctionProcess {
  readonly pid: number;
  /** Stops taking keys, lets runs in progress end for a moment, and ends the process. */
  stop(): Promise<void>;
}

/** How long runs in progress may take to end, and when the process is killed. */
const grace = { setting: "2s", killedAfter: 4_000 };
/** How long a function may take until it takes keys, before the command goes on, ms. */
const readyWithin = 30_000;
/** How long a function that is called may take until it listens: `go run` compiles it first. */
const listensWithin = 120_000;

/**
 * Starts a process of the function, which takes keys once this resolves.
 *
 * @throws CommandError if it ends before that.
 */
export const startFunctionProcess = (
  options: FunctionProcessOptions,
  registered: RegisteredFunction,
  signal: AbortSignal,
): Promise<FunctionProcess> =>
  (options.folder.isCalled ? startCalled : startPulling)(options, registered, signal);

/** Such a function takes its keys from Redis. */
async function startPulling(
  options: FunctionProcessOptions,
  { identity: { namespace, name, uid } }: RegisteredFunction,
  signal: AbortSignal,
): Promise<FunctionProcess> {
  const { servers } = options;
  const ready = Promise.withResolvers<undefined>();
  const env = pulledFunctionEnvironment({
    KUBECONFIG: servers.kubeconfig,
    DROVER_KUBECONFIG: servers.kubeconfig,
    DROVER_KUBE_CONTEXT: servers.context,
    DROVER_REDIS_URL: servers.redisUrl,
    DROVER_REDIS_PASSWORD_FILE: undefined,
    // A certificate authority is refused for a connection without TLS, such as that to the session's own Redis.
    ...(!servers.redisUrl.startsWith("rediss:") && { DROVER_REDIS_CA_FILE: undefined }),
    DROVER_FUNCTION: `${namespace}/${name}/${uid}`,
    DROVER_DEV_SESSION: options.cluster?.session.name,
    DROVER_DEV_SECRET: options.cluster?.session.secret,
    DROVER_HTTP_HOST: "127.0.0.1",
    DROVER_HTTP_PORT: "0",
    // The level of the lines that report each run.
    DROVER_LOG_LEVEL: "debug",
    DROVER_STOP_GRACE: grace.setting,
  });
  const child = await launch(options, env, (text) => {
    const line = parseLogLine(text);
    if (line === undefined) options.story.output(text);
    else options.story.log(line);
    if (line?.msg === takesKeys) ready.resolve(undefined);
  });
  const stop = (): void => void child.stop();
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  const slow = new AbortController();
  const late = delay(readyWithin, "late" as const, { signal: slow.signal });
  const exit = await Promise.race([ready.promise, child.exited, late]);
  late.catch(() => undefined);
  slow.abort();
  signal.removeEventListener("abort", stop);
  if (exit === "late")
    options.story.print(
      `The function takes no keys yet, ${readyWithin / 1_000} s after its start. Perhaps it waits for something. It is started ` +
        "again at the next change of a file.",
    );
  else if (exit !== undefined) throw endedEarly(options, exit, signal);
  return running(options, child, () => Promise.resolve());
}

/** Such a function listens, and this process takes its keys and calls it. */
async function startCalled(
  options: FunctionProcessOptions,
  { identity, manifest }: RegisteredFunction,
  signal: AbortSignal,
): Promise<FunctionProcess> {
  const { servers, story, scratch } = options;
  const fn = webhookFunction(manifest, identity);
  const secret = `whsec_${randomBytes(32).toString("base64")}`;
  await writeFile(join(scratch, "current"), secret, { mode: 0o600 });
  const port = await freePort();
  const audience = `${identity.namespace}/${identity.name}`;
  const env = calledFunctionEnvironment({ audience, uid: identity.uid, secrets: scratch, port });
  const child = await launch(options, env, (text) => story.output(text));
  const early = child.exited.then((exit): never => {
    throw endedEarly(options, exit, signal);
  });
  await Promise.race([
    waitUntilReady(child, () => acceptsConnections(port), { timeoutMs: listensWithin, signal }),
    early,
  ]);
  early.catch(() => undefined);
  const worker = workCalled({
    fn,
    url: new URL(`http://127.0.0.1:${port}/`),
    secret,
    client: servers.client,
    redis: servers.redis,
    session: options.cluster?.session,
    log: logTo((line) => story.log(line)),
  });
  return running(options, child, async () => worker[Symbol.asyncDispose]());
}

/** @param drain ends the runs that this process makes. */
function running(
  { story }: FunctionProcessOptions,
  child: TiedProcess,
  drain: () => Promise<void>,
): FunctionProcess {
  let isStopping = false;
  let drained: Promise<void> | undefined;
  const drainOnce = (): Promise<void> => (drained ??= drain());
  void child.exited.then((exit) => {
    if (isStopping) return;
    story.print(
      `The function ended by itself (${describe(exit)}). It is started again at the next change of a file.`,
    );
    return drainOnce();
  });
  return {
    pid: child.pid,
    async stop() {
      isStopping = true;
      await drainOnce();
      await child.stop({ graceMs: grace.killedAfter });
    },
  };
}

/** The programs of the folder's packages come first, as with `npm start`. Temporary files go with the session's. */
const launch = (
  { folder: { path, command }, scratch }: FunctionProcessOptions,
  env: EnvironmentVariables,
  onLine: (text: string) => void,
): Promise<TiedProcess> =>
  spawnTied({
    name: "the function",
    command: "/bin/sh",
    args: ["-c", command],
    cwd: path,
    env: {
      ...env,
      PATH: [join(path, "node_modules/.bin"), env["PATH"]].join(delimiter),
      TMPDIR: scratch,
      PYTHONUNBUFFERED: "1",
    },
    logFile: devNull,
    onLine,
  });

function endedEarly({ folder }: FunctionProcessOptions, exit: Exit, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  return new CommandError(
    `The function (${folder.command}) ended before it was ready (${describe(exit)}). Its output is above.`,
  );
}

const describe = ({ code, signal }: Exit): string => signal ?? `exit code ${String(code)}`;
