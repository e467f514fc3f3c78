import { type Log, type Milliseconds, queueOf } from "@drover/controller";
import { redisAccounts, type RedisConnection, type RedisUserOptions, within } from "@drover/queue";
import type { TenantRedis } from "@drover/runtime";
import type { Home } from "./home.ts";
import { redisUserOf } from "./names.ts";

/** The Redis users of functions. Each exists only in the Redis of its function. */
export interface FunctionAccounts {
  /**
   * Creates the function's user with exactly these passwords. Before that, revokes it in servers that the function has
   * left: a lease is valid on one server only, so Pods that are still connected there could run a key that also runs
   * here.
   *
   * @throws TenantRedisError while the function's Redis is not available.
   */
  grant(home: Home, user: Omit<RedisUserOptions, "cluster">, passwords: readonly string[]): Promise<void>;
  /** Revokes the user in every server. A server that is not available loses it when that server is swept. */
  revoke(home: Home): Promise<void>;
  /** The names of all users, except those in servers that are not available. */
  names(): Promise<readonly string[]>;
}

/** Timeout of one call to a server. */
const answerWithin: Milliseconds = 5_000;

export function functionAccounts(
  { redisFor, servers }: Pick<TenantRedis, "redisFor" | "servers">,
  log: Log,
): FunctionAccounts {
  /** By connection, the uids of functions that have no user there: it has been revoked. */
  const left = new WeakMap<RedisConnection, Set<string>>();
  const revokeIn = (redis: RedisConnection, home: Home): Promise<void> =>
    within(answerWithin, redisAccounts(redis).revoke(redisUserOf(home)));
  const leave = async (redis: RedisConnection, home: Home): Promise<void> => {
    const known = left.get(redis) ?? new Set<string>();
    left.set(redis, known);
    if (known.has(home.uid)) return;
    await revokeIn(redis, home);
    known.add(home.uid);
  };
  const elsewhere = (home: Home, own: RedisConnection | undefined, act: typeof leave): Promise<unknown> =>
    Promise.all(
      servers()
        .filter(({ redis }) => redis !== own)
        .map(({ redis, tenant }) =>
          act(redis, home).catch((error: unknown) => {
            // A tenant's server that fails must not fail this run. A failure of Drover's own Redis ends the run.
            if (tenant === undefined) throw error;
            log.warn(
              { err: error, function: queueOf(home) },
              "Could not revoke a Redis user; the next sweep tries again",
            );
          }),
        ),
    );
  return {
    async grant(home, user, passwords) {
      const { redis } = redisFor(queueOf(home));
      await elsewhere(home, redis, leave);
      left.get(redis)?.delete(home.uid);
      await within(answerWithin, redisAccounts(redis).grant(redisUserOf(home), user, passwords));
    },
    async revoke(home) {
      await elsewhere(home, undefined, revokeIn);
    },
    async names() {
      const named = servers().map(({ redis }) =>
        within(answerWithin, redisAccounts(redis).names()).catch((error: unknown) => {
          log.warn({ err: error }, "Could not list the users of functions in a Redis");
          return [];
        }),
      );
      return (await Promise.all(named)).flat();
    },
  };
}
