import type { Log, Milliseconds } from "@drover/controller";
import { Cluster, type Redis } from "ioredis";
import { setTimeout as delay } from "node:timers/promises";
import { patchAdvice } from "./patch-levels.ts";
import { redisRefusalOf } from "./redis-errors.ts";
import { hostPortOf, primariesOf } from "./redis-servers.ts";

/** A Redis that cannot keep a queue's promises, or that cannot be reached. The message gives the change to make. */
export class UnfitRedisError extends Error {
  override readonly name = "UnfitRedisError";
}

/** The oldest version with all that the scripts use; Valkey reports 7.2 or newer. */
const oldestVersion = 7;
/** Pause before a cluster that is still forming is checked again. */
const clusterCheckPause: Milliseconds = 100;

/**
 * Checks every server that receives writes. Waits for a cluster with a primary that is away. Logs a warning for a
 * server that lacks security patches, once per call and server.
 *
 * @throws UnfitRedisError if a queue must not be kept there, or if not all servers have answered after `timeout`.
 */
export async function checkServer(redis: Redis | Cluster, timeout: Milliseconds, log: Log): Promise<void> {
  const deadline = performance.now() + timeout;
  const warned = new Set<string>();
  const check = async (server: Redis, addressed: "server" | "cluster"): Promise<void> => {
    const advice = await checkOneServer(server, addressed);
    const address = hostPortOf(server);
    if (advice === undefined || warned.has(address)) return;
    warned.add(address);
    log.warn({ server: address }, advice);
  };
  for (;;) {
    if (!(redis instanceof Cluster)) return check(redis, "server");
    const absence = await checkNodes(redis, (node) => check(node, "cluster"));
    if (absence === undefined) return;
    if (performance.now() > deadline) throw new UnfitRedisError(absence);
    await delay(clusterCheckPause);
  }
}

/** Why a cluster cannot be used yet; undefined if it can. */
async function checkNodes(
  cluster: Cluster,
  check: (node: Redis) => Promise<void>,
): Promise<string | undefined> {
  const nodes = primariesOf(cluster);
  if (nodes.length === 0) return "No node of the Redis Cluster is reachable. Start it, or give its URL.";
  for (const node of nodes) {
    try {
      await check(node);
      const state = field(await node.cluster("INFO"), "cluster_state");
      if (state !== "ok") {
        return `The Redis Cluster reports at ${hostPortOf(node)} that its state is ${state}. Repair it.`;
      }
    } catch (error) {
      if (error instanceof UnfitRedisError) throw error;
      return `The Redis Cluster's node ${hostPortOf(node)} is not reachable: ${String(error)}. Start it.`;
    }
  }
  return undefined;
}

/** Throws if a server must not be used. Returns advice on one that may be used but lacks patches. */
async function checkOneServer(redis: Redis, addressed: "server" | "cluster"): Promise<string | undefined> {
  const server = `Redis at ${hostPortOf(redis)}`;
  const info = await redis.info().catch((error: unknown) => {
    const refusal = redisRefusalOf(error);
    throw refusal === undefined
      ? error
      : new UnfitRedisError(`${server}: ${refusal.message}`, { cause: error });
  });
  const version = field(info, "redis_version");
  if (Number.parseInt(version, 10) < oldestVersion) {
    throw new UnfitRedisError(`${server} is version ${version}, too old. Use Redis 7 or newer, or Valkey.`);
  }
  if (field(info, "role") === "slave") {
    throw new UnfitRedisError(`${server} is a read-only replica. Give the URL of its primary.`);
  }
  const policy = field(info, "maxmemory_policy");
  if (policy !== "noeviction") {
    throw new UnfitRedisError(
      `${server} evicts keys when memory is short (maxmemory-policy ${policy}), which loses work. ` +
        "Set it with: CONFIG SET maxmemory-policy noeviction",
    );
  }
  if (field(info, "cluster_enabled") === "1" && addressed === "server") {
    throw new UnfitRedisError(
      `${server} is a node of a Redis Cluster. Add ?cluster=true to its URL, or give the URLs of several nodes, ` +
        "separated by commas.",
    );
  }
  return patchAdvice((name) => field(info, name));
}

const field = (info: string, name: string): string =>
  new RegExp(`^${name}:(.*?)\r?$`, "m").exec(info)?.[1] ?? "";
