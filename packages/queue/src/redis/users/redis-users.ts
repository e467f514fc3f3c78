import {
  allFunctionsPattern,
  queuePrefix,
  recordedScriptsPrefix,
  systemQueuesPattern,
} from "../../work-queue/queue-prefix.ts";

/**
 * One Redis user per component, with the commands and keys that it needs and no others.
 *
 * Redis checks the commands inside a script against the user that runs it. So a role's list contains the commands of
 * the ledger's scripts that it runs, of BullMQ's scripts, and of the connection. Only `bridge`, `embedded` and
 * `deployer` may load scripts, because a user that loads its own script may keep Redis busy without end. The others run
 * loaded scripts, by their SHA-1.
 *
 * - `bridge` wakes keys, runs dispatchers, and repairs the ledgers; it owns the streams. It takes no jobs.
 * - `function` runs a dispatcher, takes jobs, claims, renews and settles.
 * - `gateway` does the same for the functions that it calls.
 * - `embedded` is a bridge and a function of one controller in one process, with streams of its own.
 * - `operator` pauses, resumes, forces, lists and inspects.
 * - `deployer` is a function, pauses other queues, deletes the keys of deleted functions, and creates and deletes their
 *   users. So it could create a user that may do anything: Redis cannot limit the users that a user may change.
 *
 * Every role may do what a dispatcher does: the first process that finds a new server lets the ledger adopt it, which
 * writes. So a user cannot be limited to counting, or to waking without claiming: both change the same few sets.
 */
export type RedisRole = "bridge" | "function" | "gateway" | "embedded" | "operator" | "deployer";

export interface RedisUserOptions {
  readonly role: RedisRole;
  /**
   * The names of the queues that it may use; `<namespace>/<name>/*` stands for all queues of the ReconcileFunction of
   * that name, whatever its uid. `all` includes the queues of future functions; for the deployer, and for bridges in a
   * cluster with a deployer. For these two, `all` includes the deployer's own queue: the deployer runs its keys, and
   * bridges wake them.
   */
  readonly controllers: readonly string[] | "all";
  /** True if it connects to a Redis Cluster, which it asks for the nodes. Every node needs the user. */
  readonly cluster?: boolean;
}

/** Options that no valid rules can be made of: an unknown role, no queue, or a text that is not a queue's name. */
export class InvalidRedisUserError extends Error {
  override readonly name = "InvalidRedisUserError";
}

/**
 * The rules for `ACL SETUSER <name> <rules>`, separated by spaces. The first one removes all that the user had, also
 * its passwords: append a `>password`, or the user cannot log in.
 */
export function redisUserRules({ role, controllers, cluster = false }: RedisUserOptions): string {
  if (!Object.hasOwn(roleCommands, role)) {
    throw new InvalidRedisUserError(
      `${JSON.stringify(role)} is not a role. Give one of ${Object.keys(roleCommands).join(", ")}.`,
    );
  }
  if (controllers.length === 0) {
    throw new InvalidRedisUserError("A Redis user needs the name of at least one controller.");
  }
  const prefixes =
    controllers === "all"
      ? allQueuePatterns[role]
      : controllers.map((name) => queuePrefix(checkedQueueName(name)));
  const own = streamPatterns[role](controllers === "all" ? ["*"] : controllers);
  return [
    "reset",
    "on",
    // Keys, and channels, on which workers receive the keys that they are assigned.
    ...prefixes.flatMap((prefix) => [`~${prefix}*`, `&${prefix}*`]),
    ...own,
    ...new Set(
      [...commandsOf(role, cluster), ...(own.length > 0 ? streamCommands : [])].map((name) => `+${name}`),
    ),
  ].join(" ");
}

/** The commands that a role calls, as `ACL SETUSER` names them. */
export function commandsOf(role: RedisRole, cluster = false): readonly string[] {
  return [
    ...new Set([
      ...connectionCommands,
      ...(cluster ? clusterCommands : []),
      ...dispatcherCommands,
      ...roleCommands[role],
    ]),
  ];
}

/** Checks a queue's name. A valid one, as `queueOf` makes it, contains no character that has a meaning in a pattern. */
function checkedQueueName(queue: string): string {
  if (/^[a-z0-9._-]+(\/[a-z0-9._-]+)*$|^[a-z0-9.-]+\/[a-z0-9.-]+\/\*$/.test(queue)) return queue;
  throw new InvalidRedisUserError(
    `${JSON.stringify(queue)} is not the name of a queue. Give <namespace>/<name>/<uid>, <namespace>/<name>/* for a ` +
      `ReconcileFunction whatever its uid, or -/<name>/- for a program that no ReconcileFunction registers.`,
  );
}

const functionAndSystemPatterns = [allFunctionsPattern, systemQueuesPattern];
const allQueuePatterns: Readonly<Record<RedisRole, readonly string[]>> = {
  bridge: functionAndSystemPatterns,
  function: [allFunctionsPattern],
  gateway: [allFunctionsPattern],
  embedded: [allFunctionsPattern],
  operator: [allFunctionsPattern],
  deployer: functionAndSystemPatterns,
};

const recordedScripts = `~${recordedScriptsPrefix}*`;
/**
 * Patterns of the keys of streams, hooks and recorded scripts. The bridges of a cluster share one set of streams, an
 * embedded bridge has its own. Only processes that load scripts for others may record scripts.
 */
const streamPatterns: Readonly<Record<RedisRole, (controllers: readonly string[]) => readonly string[]>> = {
  bridge: () => ["~{drover-stream:*}*", "~{drover-bridges}*", "~{drover-hook:*}*", recordedScripts],
  embedded: (controllers) =>
    controllers.flatMap((of) => [`~{drover-stream:${of}:*}*`, `~{drover-bridges:${of}}*`]),
  function: () => [],
  gateway: () => [],
  operator: () => [],
  deployer: () => ["~{drover-hook:*}*", recordedScripts],
};
/** The commands of packages/bridge, in addition to those of a dispatcher. */
const streamCommands = [
  ...["hscan", "zremrangebyscore", "zremrangebyrank", "zrangebylex", "unlink", "pexpire"],
  "srem",
];

const connectionCommands = ["info", "ping", "client|setname"];
/** Sends a script with its text, and makes servers keep it for other processes. */
const scriptLoadingCommands = ["eval", "script|load", "script|exists"];
const clusterCommands = ["cluster|slots", "cluster|info", "asking"];

/**
 * The ledger's scripts of a dispatcher: read, write, repair. And BullMQ's scripts that add a job and return its state.
 */
const dispatcherCommands = [
  ...["evalsha", "time", "type", "exists", "rename", "del", "set", "persist"],
  ...["hget", "hmget", "hgetall", "hexists", "hset", "hmset", "hdel", "hlen"],
  ...["zadd", "zrem", "zscore", "zcard", "zcount", "zrange", "zrangebyscore"],
  ...["incr", "lpush", "lpos", "xadd", "publish", "get", "sadd", "scard", "smembers"],
];

/**
 * Assignments, outcomes, histories; and BullMQ's worker: take, hold and end jobs, and take back those of dead workers.
 */
const workerCommands = [
  "subscribe",
  ...["pexpire", "ltrim", "bzpopmin", "rpoplpush", "rpush", "llen", "lrem", "lrange", "hincrby", "zpopmin"],
  ...["zrevrange", "zremrangebyrank", "spop", "srem", "xtrim", "pttl"],
];

const roleCommands: Readonly<Record<RedisRole, readonly string[]>> = {
  bridge: [...scriptLoadingCommands, "scan", "zrank"],
  function: workerCommands,
  gateway: workerCommands,
  embedded: [...scriptLoadingCommands, "scan", "zrank", ...workerCommands],
  operator: ["lrange", "zrank"],
  deployer: [
    ...scriptLoadingCommands,
    ...workerCommands,
    "scan",
    "unlink",
    "acl|setuser",
    "acl|deluser",
    "acl|users",
  ],
};
