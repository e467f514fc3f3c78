import { setTimeout as delay } from "node:timers/promises";
import { onFreePort } from "../ports/free-port.ts";
import { findRedis } from "./redis-executable.ts";
import { redisRequest } from "./redis-request.ts";
import { type RedisServerOptions, type RedisServer, startRedis } from "./redis-server.ts";

export interface RedisClusterOptions extends Omit<RedisServerOptions, "dir" | "port"> {
  /** Primaries; each serves an equal share of the slots. Default: 3, the least that can agree on a failover. */
  nodes?: number;
  /** Replicas of each primary. Default: none. */
  replicas?: number;
}

export interface RedisCluster {
  /** `redis://127.0.0.1:7000,redis://127.0.0.1:7001,...`: the nodes that were primaries at the start. */
  readonly url: string;
  /** The primaries, then each one's replicas, in the same order. Each may be killed and restarted; roles may change. */
  readonly nodes: readonly RedisServer[];
  /** The running node that serves a key. */
  primaryOf(key: string): Promise<RedisServer>;
  /** Resolves when every node runs and reports that all slots are served. */
  untilOk(): Promise<void>;
  /** Makes a replica the primary of its slots at once, whether its primary lives or not. */
  takeOver(replica: RedisServer): Promise<void>;
  /** Ends all nodes and removes their temporary folders. May be repeated. */
  stop(): Promise<void>;
}

const SLOTS = 16_384;

// A node that is silent for this long counts as failed, and is taken back at the earliest twice as long after that.
const NODE_TIMEOUT_MS = 2_000;

/**
 * Starts a Redis Cluster on 127.0.0.1 and waits until every node reports that it is ok, which takes about two seconds.
 * Each node dies with this process. Rejects as `startRedis` does; no node is left then.
 */
export async function startRedisCluster(options: RedisClusterOptions): Promise<RedisCluster> {
  const { nodes: primaries = 3, replicas = 0, signal } = options;
  const executable = options.executable ?? (await findRedis({ signal }));
  const starting = Array.from({ length: primaries * (1 + replicas) }, () =>
    startClusterNode({ ...options, executable }),
  );
  const started = await Promise.allSettled(starting);
  const nodes = started.flatMap((node) => (node.status === "fulfilled" ? [node.value] : []));
  const stop = async () => {
    await Promise.all(nodes.map((node) => node.stop()));
  };
  const untilOk = (giveUp?: AbortSignal) => until(nodes, isOk, giveUp);
  try {
    for (const node of started) if (node.status === "rejected") throw node.reason;
    await form(nodes, primaries, signal);
    await untilOk(signal);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url: Array.from(nodes.slice(0, primaries), ({ url }) => url).join(","),
    nodes,
    primaryOf: (key) => primaryOf(nodes, key),
    untilOk: () => untilOk(),
    async takeOver({ port }) {
      await redisRequest(port, ["CLUSTER", "FAILOVER", "TAKEOVER"]);
    },
    stop,
  };
}

interface Node extends RedisServer {
  readonly busPort: number;
}

// The bus is 10,000 above the port by default, in the range of ports of outgoing connections.
function startClusterNode({ args = [], ...options }: RedisClusterOptions): Promise<Node> {
  return onFreePort(async (busPort) => {
    const cluster = ["--cluster-enabled", "yes", "--cluster-port", String(busPort)];
    const times = ["--cluster-node-timeout", String(NODE_TIMEOUT_MS), "--repl-diskless-sync-delay", "0"];
    const server = await startRedis({ ...options, args: [...cluster, ...times, ...args] });
    return Object.assign(server, { busPort });
  });
}

async function form(nodes: readonly Node[], primaries: number, signal?: AbortSignal): Promise<void> {
  const [first, ...others] = nodes;
  if (first === undefined) throw new Error("A cluster needs at least one node.");
  for (const [i, { port }] of nodes.slice(0, primaries).entries()) {
    const [from, to] = [i, i + 1].map((n) => Math.floor((SLOTS * n) / primaries));
    await redisRequest(port, ["CLUSTER", "ADDSLOTSRANGE", String(from), String((to ?? 0) - 1)], signal);
    await redisRequest(port, ["CLUSTER", "SET-CONFIG-EPOCH", String(i + 1)], signal);
  }
  for (const { port, busPort } of others) {
    await redisRequest(first.port, ["CLUSTER", "MEET", "127.0.0.1", String(port), String(busPort)], signal);
  }
  await until(nodes, (node) => knows(node, nodes.length), signal);
  for (const [i, { port }] of nodes.slice(primaries).entries()) {
    const primary = nodes[i % primaries] ?? first;
    const id = (await redisRequest(primary.port, ["CLUSTER", "MYID"], signal)) ?? "";
    await redisRequest(port, ["CLUSTER", "REPLICATE", id], signal);
  }
}

async function until(
  nodes: readonly RedisServer[],
  holds: (node: RedisServer) => Promise<boolean>,
  signal?: AbortSignal,
): Promise<void> {
  for (const node of nodes) while (!(await holds(node))) await delay(20, undefined, { signal });
}

const ask = (node: RedisServer, ...command: string[]): Promise<string> =>
  redisRequest(node.port, command).then(
    (reply) => reply ?? "",
    () => "",
  );

async function knows(node: RedisServer, count: number): Promise<boolean> {
  const known = (await ask(node, "CLUSTER", "NODES")).trim().split("\n");
  return known.length === count && !known.some((line) => line.includes("handshake"));
}

async function isOk(node: RedisServer): Promise<boolean> {
  const info = await ask(node, "CLUSTER", "INFO");
  if (!info.includes("cluster_state:ok\r\n") || !info.includes(`cluster_slots_ok:${SLOTS}\r\n`)) return false;
  const replication = await ask(node, "INFO", "replication");
  return replication.includes("role:master\r\n") || replication.includes("master_link_status:up\r\n");
}

async function primaryOf(nodes: readonly RedisServer[], key: string): Promise<RedisServer> {
  const claims = await Promise.all(
    nodes.map(async (node) => {
      const slot = Number((await ask(node, "CLUSTER", "KEYSLOT", key)) || Number.NaN);
      const lines = (await ask(node, "CLUSTER", "NODES")).split("\n");
      return { node, epoch: slotEpoch(lines.find((line) => line.includes("myself")) ?? "", slot) };
    }),
  );
  // A replaced primary that does not know of its successor still claims its slots.
  const [latest] = claims.sort((a, b) => b.epoch - a.epoch);
  if (latest === undefined || latest.epoch < 0) throw new Error(`No running node serves the key ${key}.`);
  return latest.node;
}

/** The epoch of a node's claim to a slot, from its own line of `CLUSTER NODES`; -1 when it makes none. */
function slotEpoch(line: string, slot: number): number {
  // ID ADDRESS FLAGS PRIMARY PING PONG EPOCH LINK RANGE..., where a range is `0-5460` or `7`.
  const [, , , , , , epoch, , ...ranges] = line.trim().split(" ");
  const serves = ranges.some((range) => {
    const [from, to = from] = range.split("-").map(Number);
    return from !== undefined && to !== undefined && from <= slot && slot <= to;
  });
  return serves ? Number(epoch) : -1;
}
