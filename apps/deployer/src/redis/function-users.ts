import { type Log, type Milliseconds, queueOf } from "@drover/controller";
import { redisUserAdmin, type RedisConnection, type RedisUserOptions, withReplyTimeout } from "@drover/queue";
import type { TenantRedis } from "@drover/runtime";
import type { FunctionRef } from "../function-ref.ts";
import { redisUserName } from "../names.ts";

/** The Redis users of functions. Each exists only in the Redis of its function. */
export interface FunctionUsers {
  /**
   * Creates the function's user with exactly these passwords. Before that, revokes it in servers that the function has
   * left: a lease is valid on one server only, so Pods that are still connected there could run a key that also runs
   * here.
   *
   * @throws TenantRedisError while the function's Redis is not available.
   */
  grant(
    functionRef: FunctionRef,
    user: Omit<RedisUserOptions, "cluster">,
    passwords: readonly string[],
  ): Promise<void>;
  /** Revokes the user in every server. A server that is not available loses it when that server is swept. */
  revoke(functionRef: FunctionRef): Promise<void>;
  /** The names of all users, except those in servers that are not available. */
  names(): Promise<readonly string[]>;
}

/** Timeout of one call to a server. */
const replyTimeout: Milliseconds = 5_000;

export function functionUsers(
  { redisFor, servers }: Pick<TenantRedis, "redisFor" | "servers">,
  log: Log,
): FunctionUsers {
  /** By connection, the uids of functions that have no user there: it has been revoked. */
  const left = new WeakMap<RedisConnection, Set<string>>();
  const revokeIn = (redis: RedisConnection, functionRef: FunctionRef): Promise<void> =>
    withReplyTimeout(replyTimeout, redisUserAdmin(redis).revoke(redisUserName(functionRef)));
  const leave = async (redis: RedisConnection, functionRef: FunctionRef): Promise<void> => {
    const known = left.get(redis) ?? new Set<string>();
    left.set(redis, known);
    if (known.has(functionRef.uid)) return;
    await revokeIn(redis, functionRef);
    known.add(functionRef.uid);
  };
  const elsewhere = (
    functionRef: FunctionRef,
    own: RedisConnection | undefined,
    act: typeof leave,
  ): Promise<unknown> =>
    Promise.all(
      servers()
        .filter(({ redis }) => redis !== own)
        .map(({ redis, tenant }) =>
          act(redis, functionRef).catch((error: unknown) => {
            // A tenant's server that fails must not fail this run. A failure of Drover's own Redis ends the run.
            if (tenant === undefined) throw error;
            log.warn(
              { err: error, function: queueOf(functionRef) },
              "Could not revoke a Redis user; the next sweep tries again",
            );
          }),
        ),
    );
  return {
    async grant(functionRef, user, passwords) {
      const { redis } = redisFor(queueOf(functionRef));
      await elsewhere(functionRef, redis, leave);
      left.get(redis)?.delete(functionRef.uid);
      await withReplyTimeout(
        replyTimeout,
        redisUserAdmin(redis).grant(redisUserName(functionRef), user, passwords),
      );
    },
    async revoke(functionRef) {
      await elsewhere(functionRef, undefined, revokeIn);
    },
    async names() {
      const named = servers().map(({ redis }) =>
        withReplyTimeout(replyTimeout, redisUserAdmin(redis).names()).catch((error: unknown) => {
          log.warn({ err: error }, "Could not list the users of functions in a Redis");
          return [];
        }),
      );
      return (await Promise.all(named)).flat();
    },
  };
}
