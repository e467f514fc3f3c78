import { Cluster, type Redis } from "ioredis";
import { createHash } from "node:crypto";
import type { RedisConnection } from "./redis-connection.ts";
import { redisUserRules, type RedisUserOptions } from "./redis-users.ts";

/** The users of Redis, made and taken away by one who may: the `deployer` of `redis-users.ts`. */
export interface RedisAccounts {
  /**
   * The user is there, with exactly these passwords and what its role needs; who is connected stays connected. Said to
   * every server of a cluster, its replicas, too: none tells another of its users.
   */
  grant(name: string, user: Omit<RedisUserOptions, "cluster">, passwords: readonly string[]): Promise<void>;
  /** The user is gone, and whoever is connected as it is cut off. */
  revoke(name: string): Promise<void>;
  /** The names of all users; on a cluster, of all its servers. */
  names(): Promise<readonly string[]>;
}

/** @param redis connected as a user who may change users. */
export function redisAccounts(redis: RedisConnection): RedisAccounts {
  const cluster = redis instanceof Cluster;
  const servers = (): readonly Redis[] => (cluster ? redis.nodes("all") : [redis]);
  const everywhere = async (...command: [string, ...string[]]): Promise<void> => {
    await Promise.all(servers().map((server) => server.call(...command)));
  };
  return {
    grant(name, user, passwords) {
      const rules = redisUserRules({ ...user, cluster }).split(" ");
      const hashes = passwords.map((password) => `#${createHash("sha256").update(password).digest("hex")}`);
      return everywhere("ACL", "SETUSER", name, ...rules, ...hashes);
    },
    revoke: (name) => everywhere("ACL", "DELUSER", name),
    async names() {
      const all = await Promise.all(servers().map((server) => server.acl("USERS")));
      return [...new Set(all.flat())];
    },
  };
}
