import type { Log } from "@drover/controller";
import { Cluster, type Redis } from "ioredis";
import type { RedisConnection } from "./redis-connection.ts";
import type { RedisLedger } from "./redis-ledger.ts";

/** Redis keys looked through per step and node. With one step a second, 5,000 keys are seen within 10 s. */
const perStep = 1_000;

/**
 * Walks round the ledger's keys in Redis, a step per call, and has them put right where somebody else changed or removed
 * them. Sets cannot tell that a member is missing; only who walks by notices.
 */
export function patrol(options: {
  redis: RedisConnection;
  prefix: string;
  ledger: RedisLedger;
  log: Log;
}): () => Promise<void> {
  const { redis, prefix, ledger, log } = options;
  const cursors = new Map<string, string>();
  const step = async (id: string, node: Redis): Promise<void> => {
    const pattern = `${escaped(prefix)}:*`;
    const [cursor, names] = await node.scan(cursors.get(id) ?? "0", "MATCH", pattern, "COUNT", perStep);
    cursors.set(id, cursor);
    if (names.length === 0) return;
    const found = await ledger.repair(names);
    if (found.length > 0) log.warn({ found }, "Somebody else changed the ledger; it has been put right");
  };
  return async () => {
    for (const [id, node] of nodesOf(redis)) await step(id, node);
  };
}

const nodesOf = (redis: RedisConnection): readonly (readonly [string, Redis])[] =>
  redis instanceof Cluster
    ? redis.nodes("master").map((node) => [`${node.options.host}:${node.options.port}`, node] as const)
    : [["", redis] as const];

/** A prefix as a pattern that means itself. */
const escaped = (prefix: string): string => prefix.replace(/[\\*?[\]]/g, "\\$&");
