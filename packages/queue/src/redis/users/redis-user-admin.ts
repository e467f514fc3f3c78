import { Cluster, type Redis } from "ioredis";
import { createHash } from "node:crypto";
import type { RedisConnection } from "../redis-servers.ts";
import { redisUserRules, type RedisUserOptions } from "./redis-users.ts";

/** Creates and deletes users of Redis. Only the role `deployer` of `redis-users.ts` may. */
export interface RedisUserAdmin {
  /**
   * Creates or changes a user, so that it has exactly these passwords and the permissions of its role. Existing
   * connections stay open. Sent to every server of a cluster, also to replicas: servers do not share their users.
   */
  grant(name: string, user: Omit<RedisUserOptions, "cluster">, passwords: readonly string[]): Promise<void>;
  /** Deletes a user, and closes its connections. */
  revoke(name: string): Promise<void>;
  /** The names of all users; on a cluster, of all its servers. */
  names(): Promise<readonly string[]>;
}

/** @param redis logged in as a user that may change users. */
export function redisUserAdmin(redis: RedisConnection): RedisUserAdmin {
  const cluster = redis instanceof Cluster;
  const servers = (): readonly Redis[] => (cluster ? redis.nodes("all") : [redis]);
  const onEveryServer = async (...command: [string, ...string[]]): Promise<void> => {
    await Promise.all(servers().map((server) => server.call(...command)));
  };
  return {
    grant(name, user, passwords) {
      const rules = redisUserRules({ ...user, cluster }).split(" ");
      const hashes = passwords.map((password) => `#${createHash("sha256").update(password).digest("hex")}`);
      return onEveryServer("ACL", "SETUSER", name, ...rules, ...hashes);
    },
    revoke: (name) => onEveryServer("ACL", "DELUSER", name),
    async names() {
      const all = await Promise.all(servers().map((server) => server.acl("USERS")));
      return [...new Set(all.flat())];
    },
  };
}
