import { type Log, type Milliseconds, queueOf } from "@drover/controller";
import { redisAccounts, type RedisConnection, type RedisUserOptions, within } from "@drover/queue";
import type { TenantRedis } from "@drover/runtime";
import type { Home } from "./home.ts";
import { redisUserOf } from "./names.ts";

/** The users of functions, each in the Redis of its function and in no other. */
export interface FunctionAccounts {
  /**
   * The function's user is there with exactly these passwords. In servers that the function has left it is revoked before: the
   * lease of a key is of one server, so nothing else keeps Pods there from running the key that runs here.
   *
   * @throws TenantRedisError while its Redis is not there.
   */
  grant(home: Home, user: Omit<RedisUserOptions, "cluster">, passwords: readonly string[]): Promise<void>;
  /** It is gone wherever it may have been. From a server that is not there it is taken when that is swept. */
  revoke(home: Home): Promise<void>;
  /** The names of all users, but for those in servers that are not there. */
  names(): Promise<readonly string[]>;
}

/** How long a server may take. */
const answerWithin: Milliseconds = 5_000;

export function functionAccounts(
  { redisFor, servers }: Pick<TenantRedis, "redisFor" | "servers">,
  log: Log,
): FunctionAccounts {
  /** By connection, the functions whose users were looked for there. */
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
            // Its own tenant's business, or Drover's own Redis, whose failure ends the run by itself.
            if (tenant === undefined) throw error;
            log.warn(
              { err: error, function: queueOf(home) },
              "Could not revoke a Redis user; it is swept later",
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
          log.warn({ err: error }, "Could not look for the users of functions in a Redis");
          return [];
        }),
      );
      return (await Promise.all(named)).flat();
    },
  };
}
