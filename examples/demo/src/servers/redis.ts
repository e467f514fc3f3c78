import { messageOf } from "@drover/controller";
import { isRunning, type RedisServer, startRedis } from "@drover/local-servers";
import { parseRedisUrl, type RedisNode } from "@drover/queue";
import { createHash } from "node:crypto";
import { rm, symlink } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { DemoRun } from "../demo-run.ts";

/**
 * Starts a Redis that keeps its data on disk, and restarts it with that data when it dies.
 *
 * The data belong to one cluster. For a given cluster they are kept between runs. The sandbox is empty at each start,
 * so its Redis is, too.
 */
export async function startOwnRedis(run: DemoRun, signal: AbortSignal): Promise<RedisServer> {
  const { options, folder, opened, request } = run;
  const dir = join(folder.path, dataFolder(options));
  if (options.kubeconfig === undefined) await rm(dir, { recursive: true, force: true });
  const redis = await startRedis({ persistence: true, dir, signal });
  folder.noteProcess("redis", redis.pid);
  opened.push({ name: "Redis", stop: () => redis.stop() });
  await symlink(join(dir, "redis.log"), join(folder.logs, "redis.log"));
  void restartOnExit(redis, run).catch((cause: unknown) => {
    request.stop({ kind: "broken", problem: `Redis ended and cannot be started again: ${messageOf(cause)}` });
  });
  return redis;
}

function dataFolder({ kubeconfig, context = "" }: DemoRun["options"]): string {
  if (kubeconfig === undefined) return "redis";
  return `redis-${createHash("sha256").update(`${kubeconfig}\n${context}`).digest("hex").slice(0, 8)}`;
}

const lookEvery = 500;

async function restartOnExit(
  redis: RedisServer,
  { folder, narrator: { print }, request: { signal } }: DemoRun,
): Promise<void> {
  const pause = (): Promise<unknown> => delay(lookEvery, undefined, { signal }).catch(() => undefined);
  for (await pause(); !signal.aborted; await pause()) {
    if (isRunning(redis.pid)) continue;
    print(`Redis (process ${redis.pid}) has ended. Starting it again, with its data.`, "bad");
    await redis.restart({ signal });
    folder.noteProcess("redis", redis.pid);
    print(`Redis is back (process ${redis.pid}).`, "good");
  }
}

/** The hosts and ports of a Redis URL, for messages: the URL itself may contain a password. */
export const redisAddresses = (url: string): string => parseRedisUrl(url).nodes.map(addressOf).join(", ");

const addressOf = ({ host, port }: RedisNode): string => `${host}:${port}`;

/** Rejects, with a remedy, unless one of the URL's nodes accepts a TCP connection. */
export async function checkRedis(url: string, signal: AbortSignal): Promise<void> {
  const absences = await Promise.all(parseRedisUrl(url).nodes.map((node) => connectionProblem(node, signal)));
  signal.throwIfAborted();
  if (absences.includes(undefined)) return;
  const why = absences.join("; ");
  throw new Error(`No Redis answers at ${why}. Start it, or leave --redis out to have one started.`);
}

/** Returns why a node cannot be reached; undefined if it can. */
function connectionProblem(node: RedisNode, signal: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ ...node, signal, timeout: 15_000 });
    const answer = (absence?: string): void => {
      socket.destroy();
      resolve(absence === undefined ? undefined : `${addressOf(node)}: ${absence}`);
    };
    socket
      .once("connect", () => answer())
      .once("timeout", () => answer("no answer within 15 s"))
      .once("error", (error) => answer(error.message));
  });
}
