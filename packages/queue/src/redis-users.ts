import { allFunctions, prefixOf, systemQueues } from "./prefix-of.ts";

/**
 * One Redis user per component, with the commands and keys that it needs and no others.
 *
 * Redis checks a script's inner commands against the user who runs it, so what is listed here is what the scripts of a
 * role call, what BullMQ's scripts call on its behalf, and the connection's own. Only `bridge`, `embedded` and `deployer`
 * may load scripts; the others run what is loaded, by its SHA-1. A script of one's own may keep Redis busy without end.
 *
 * - `bridge` wakes keys, rings, and looks after the ledgers; the streams are its own. It takes no bells.
 * - `function` also takes bells, claims, renews and settles.
 * - `gateway` does so for the functions that it calls.
 * - `embedded` is a bridge and a function in one process, of one controller: its streams are its own.
 * - `operator` pauses, resumes, forces, lists and inspects.
 * - `deployer` is a function, pauses others' queues, deletes the keys of functions that are gone, and makes and takes away
 *   their users: so it could make itself one that may do anything. Nothing in Redis limits which users a user may change.
 *
 * Every role may do what a ringer does: the first process that meets a new server has the ledger adopt it, which writes.
 * So there is no user that only counts, and none that wakes but cannot claim: both are changes of the same few sets.
 */
export type RedisRole = "bridge" | "function" | "gateway" | "embedded" | "operator" | "deployer";

export interface RedisUserOptions {
  readonly role: RedisRole;
  /**
   * The queues whose keys it may touch, by name; `<namespace>/<name>/*` stands for all queues of the ReconcileFunction of that
   * name, whatever its uid. `all`: also those of functions that are yet to come; for the deployer, and for bridges beside one.
   * The deployer's own queue is among all of them for the deployer, which works it off, and for bridges, which wake its keys.
   */
  readonly controllers: readonly string[] | "all";
  /** Whether it talks to a Redis Cluster, which is asked for its nodes. Every node needs the user. */
  readonly cluster?: boolean;
}

/** Keys or commands that no rule can be made of. */
export class InvalidRedisUserError extends Error {
  override readonly name = "InvalidRedisUserError";
}

/**
 * The rules of `ACL SETUSER <name> <rules>`, with blanks between. They begin by taking away all that the user had, also
 * its passwords: without a `>password` behind them nobody can log in.
 */
export function redisUserRules({ role, controllers, cluster = false }: RedisUserOptions): string {
  if (!Object.hasOwn(more, role)) {
    throw new InvalidRedisUserError(
      `${JSON.stringify(role)} is not a role. Give one of ${Object.keys(more).join(", ")}.`,
    );
  }
  if (controllers.length === 0) {
    throw new InvalidRedisUserError("A Redis user needs the name of at least one controller.");
  }
  const prefixes = controllers === "all" ? allOf[role] : controllers.map((name) => prefixOf(named(name)));
  const own = streams[role](controllers === "all" ? ["*"] : controllers);
  return [
    "reset",
    "on",
    // Keys, and channels, on which workers are told what they were given.
    ...prefixes.flatMap((prefix) => [`~${prefix}*`, `&${prefix}*`]),
    ...own,
    ...new Set(
      [...commandsOf(role, cluster), ...(own.length > 0 ? ofStreams : [])].map((name) => `+${name}`),
    ),
  ].join(" ");
}

/** What a role calls, as `ACL SETUSER` names it. */
export function commandsOf(role: RedisRole, cluster = false): readonly string[] {
  return [...new Set([...connection, ...(cluster ? nodes : []), ...ringer, ...more[role]])];
}

/** A queue's name, as `queueOf` makes it, contains nothing that has a meaning in a pattern. */
function named(queue: string): string {
  if (/^[a-z0-9._-]+(\/[a-z0-9._-]+)*$|^[a-z0-9.-]+\/[a-z0-9.-]+\/\*$/.test(queue)) return queue;
  throw new InvalidRedisUserError(
    `${JSON.stringify(queue)} is not the name of a queue. Give <namespace>/<name>/<uid>, <namespace>/<name>/* for a ` +
      `ReconcileFunction whatever its uid, or -/<name>/- for a program that no ReconcileFunction registers.`,
  );
}

const withSystem = [allFunctions, systemQueues];
const allOf: Readonly<Record<RedisRole, readonly string[]>> = {
  bridge: withSystem,
  function: [allFunctions],
  gateway: [allFunctions],
  embedded: [allFunctions],
  operator: [allFunctions],
  deployer: withSystem,
};

/** What bridges know of the API server and of events: all of the cluster's together, or those that are embedded with a controller. */
const streams: Readonly<Record<RedisRole, (controllers: readonly string[]) => readonly string[]>> = {
  bridge: () => ["~{drover-stream:*}*", "~{drover-bridges}*", "~{drover-hook:*}*"],
  embedded: (controllers) =>
    controllers.flatMap((of) => [`~{drover-stream:${of}:*}*`, `~{drover-bridges:${of}}*`]),
  function: () => [],
  gateway: () => [],
  operator: () => [],
  deployer: () => ["~{drover-hook:*}*"],
};
/** Beside what a ringer calls, packages/streams calls these. */
const ofStreams = [
  ...["hscan", "zremrangebyscore", "zremrangebyrank", "zrangebylex", "unlink", "pexpire"],
  "srem",
];

const connection = ["info", "ping", "client|setname"];
/** Sends a script with its text, and has servers keep it for others. */
const loader = ["eval", "script|load", "script|exists"];
const nodes = ["cluster|slots", "cluster|info", "asking"];

/** The ledger's scripts as a ringer runs them: look, write, put right; and BullMQ's that add a bell and ask for it. */
const ringer = [
  ...["evalsha", "time", "type", "exists", "rename", "del", "set", "persist"],
  ...["hget", "hmget", "hgetall", "hexists", "hset", "hmset", "hdel", "hlen"],
  ...["zadd", "zrem", "zscore", "zcard", "zcount", "zrange", "zrangebyscore"],
  ...["incr", "lpush", "lpos", "xadd", "publish", "get", "sadd", "scard", "smembers"],
];

/** What it is given, verdicts and histories, and BullMQ's worker: take a bell, hold it, end it, take back those of the dead. */
const worker = [
  "subscribe",
  ...["pexpire", "ltrim", "bzpopmin", "rpoplpush", "rpush", "llen", "lrem", "lrange", "hincrby", "zpopmin"],
  ...["zrevrange", "zremrangebyrank", "spop", "srem", "xtrim", "pttl"],
];

const more: Readonly<Record<RedisRole, readonly string[]>> = {
  bridge: [...loader, "scan", "zrank"],
  function: worker,
  gateway: worker,
  embedded: [...loader, "scan", "zrank", ...worker],
  operator: ["lrange", "zrank"],
  deployer: [...loader, ...worker, "scan", "unlink", "acl|setuser", "acl|deluser", "acl|users"],
};
