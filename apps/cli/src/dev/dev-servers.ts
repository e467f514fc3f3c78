import type { Log } from "@drover/controller";
import { type KubeClient, connect } from "@drover/kube";
import { findRedisOnPath, startRedis } from "@drover/local-servers";
import { connectRedis, disconnectRedis, type RedisConnection } from "@drover/queue";
import { startSandbox } from "@drover/sandbox";
import { openUser, type User } from "@drover/testing";
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CommandError } from "../command-error.ts";
import { redisCa } from "../redis-option.ts";
import type { ClusterChoice } from "./cluster/cluster-session.ts";

/** The servers of a session. */
export interface DevServers {
  /** The path of the kubeconfig. */
  readonly kubeconfig: string;
  /** The context of the kubeconfig. Default: its current one. */
  readonly context?: string | undefined;
  readonly client: KubeClient;
  /** The API server of the session's own. Undefined in a given cluster. */
  readonly sandbox?: { readonly url: string; readonly user: User } | undefined;
  readonly redis: RedisConnection;
  readonly redisUrl: string;
  /** For a person: never a given URL, which may have a password. */
  readonly redisName: string;
}

export interface DevServersOptions {
  /** The session's temporary folder. */
  readonly folder: string;
  /** The port of the API server; 0 takes a free one. */
  readonly port: number;
  /** The URL of a given Redis. Default: one of the session's own. */
  readonly redis: string | undefined;
  /** A given cluster. Default: an API server of the session's own. */
  readonly cluster?: Pick<ClusterChoice, "kubeconfig" | "context"> | undefined;
  readonly log: Log;
  readonly stop: AbortController;
}

/**
 * Starts an API server in this process and a Redis, unless they are given. All listen on 127.0.0.1 only, and end with
 * this process.
 *
 * @param opened gets what must be closed.
 * @throws CommandError if the port is taken, or there is no Redis.
 */
export async function startDevServers(
  { folder, port, redis: given, cluster, log, stop }: DevServersOptions,
  opened: AsyncDisposableStack,
): Promise<DevServers> {
  const own =
    cluster === undefined
      ? opened.adopt(await startSandbox({ port }).catch(explainPort(port)), (it) => it.close())
      : undefined;
  const kubeconfig = cluster?.kubeconfig ?? join(folder, "kubeconfig");
  if (own !== undefined) await writeFile(kubeconfig, own.kubeconfig(), { mode: 0o600 });
  const context = cluster?.context;
  const client = opened.adopt(
    await connect({ kubeconfig, context, userAgent: "drover-dev", fieldManager: "drover-dev" }),
    (it) => it.close(),
  );
  const sandbox = own && { url: own.url, user: openUser(client, { server: own.url, token: own.token }) };
  return { kubeconfig, context, client, sandbox, ...(await redisOf({ folder, given, log, stop }, opened)) };
}

interface RedisChoice extends Pick<DevServersOptions, "folder" | "log" | "stop"> {
  /** A URL. */
  readonly given: string | undefined;
}

async function redisOf(
  { folder, given, log, stop }: RedisChoice,
  opened: AsyncDisposableStack,
): Promise<Pick<DevServers, "redis" | "redisUrl" | "redisName">> {
  const own = given === undefined ? await startOwnRedis(folder, stop, opened) : undefined;
  const redisUrl = given ?? own?.url ?? "";
  const ca = await redisCa(redisUrl);
  const redis = opened.adopt(
    await connectRedis({
      url: redisUrl,
      clientName: "drover-dev",
      log,
      connectTimeout: 5_000,
      signal: stop.signal,
      ...(ca !== undefined && { ca }),
    }),
    disconnectRedis,
  );
  const redisName = own === undefined ? "the Redis of --redis" : `a Redis of its own (${own.description})`;
  return { redis, redisUrl, redisName };
}

const explainPort = (port: number) => (cause: unknown) => {
  const isTaken = cause instanceof Error && "code" in cause && cause.code === "EADDRINUSE";
  if (!isTaken) throw cause;
  throw new CommandError(`Port ${port} of 127.0.0.1 is taken. Choose another one, or leave --port out.`, {
    cause,
  });
};

async function startOwnRedis(folder: string, stop: AbortController, opened: AsyncDisposableStack) {
  const executable = await findRedisOnPath();
  if (!("command" in executable))
    throw new CommandError(
      `There is no Redis to start: ${executable.join("; ")}. Install Valkey or Redis 7.0 or newer (Debian 12, Ubuntu ` +
        "24.04: apt install redis-server; macOS: brew install valkey), or give the URL of one: --redis redis://127.0.0.1:6379",
    );
  const { signal } = stop;
  const password = randomBytes(24).toString("base64url");
  const dir = join(folder, "redis");
  const redis = await startRedis({ persistence: true, dir, password, executable, signal });
  let isStopping = false;
  void redis.exited.then(() => {
    if (!isStopping) stop.abort(new CommandError("Redis ended by itself, and all queued work with it."));
  });
  return opened.adopt(redis, async (it) => {
    isStopping = true;
    await it.stop();
  });
}
