/**
 * A command that is denied inside a script has no error code of its own. The texts of Redis 7.0, and of all later ones.
 */
const deniedInScript = /^ERR (The user executing the script can't|ACL failure in script)/;
/** The error for a command that a server does not have, or that `rename-command` removed. It quotes the arguments. */
const unknownCommand = /^(ERR unknown command [^,]*).*$/s;

/**
 * The code at the beginning of an error reply of Redis, which is part of its protocol: `OOM`, `NOPERM`, `READONLY`,
 * `ERR`. A command denied inside a script has `NOPERM`, an unknown one `UNKNOWN`. Undefined for an error that is not a
 * reply of Redis.
 */
export function redisErrorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || error.name !== "ReplyError") return undefined;
  if (deniedInScript.test(error.message)) return "NOPERM";
  if (unknownCommand.test(error.message)) return "UNKNOWN";
  return /^[A-Z]+/.exec(error.message)?.[0];
}

/**
 * Errors that pass by themselves, of commands that had no effect: the server is loading its data, or has become a
 * replica, and its address leads or will lead to another primary. The command is sent again over a new connection.
 *
 * UNBLOCKED is the error of a blocking read when its server becomes a replica.
 */
const transientCodes: ReadonlySet<string | undefined> = new Set([
  "LOADING",
  "READONLY",
  "MASTERDOWN",
  "UNBLOCKED",
]);
export const isTransientError = (error: unknown): boolean => transientCodes.has(redisErrorCode(error));

/**
 * Redis refused a command, and will refuse it again until an operator acts. Nothing was recorded, except if a script
 * was refused one of its later commands: the effects of those before it stay, and are safe to repeat.
 */
export class RedisRefusalError extends Error {
  override readonly name = "RedisRefusalError";
  readonly code: string;

  constructor(code: string, advice: string, cause: Error) {
    super(`${advice} (${cause.message.replace(unknownCommand, "$1")})`, { cause });
    this.code = code;
  }
}

const advice: Readonly<Record<string, string>> = {
  OOM: "Redis has no memory left and recorded nothing. Raise its maxmemory, or remove other data from it.",
  NOPERM:
    "Redis does not permit this to Drover's user. ACL LOG shows what was denied, docs/operating-redis.md lists what the " +
    "user needs. Grant it with ACL SETUSER. " +
    "The deployer makes a function's user, function:…: have it made again with drover retry on the ReconcileFunction.",
  UNKNOWN:
    "This server lacks a command that Drover needs, or its configuration took it away (rename-command). Use Redis 7 or newer, or Valkey, with EVAL, EVALSHA and SCRIPT.",
  NOAUTH:
    "Redis requires a password. Give one in its URL: DROVER_REDIS_URL, or a tenant's URL in the tenants file.",
  WRONGPASS: "Redis rejected the user or password. Check them.",
  MISCONF: "Redis cannot save its data and takes no writes. See its log; most often its disk is full.",
  NOREPLICAS: "Redis has too few replicas (min-replicas-to-write) and takes no writes. Bring them back.",
  SCHEMA:
    "A newer version of Drover wrote the queue's data, according to the field `schema` of its `control` hash. Upgrade " +
    "this process. If no newer version is installed, another program changed that field: delete it.",
  BUSY:
    "Redis is kept busy by a script. If it does not end, use SCRIPT KILL. Redis refuses that (UNKILLABLE) if the script " +
    "has written: then only SHUTDOWN NOSAVE is left, which loses data that were not saved.",
};

/** An error of Redis together with advice on it; undefined if the error is not a refusal. */
export function redisRefusalOf(error: unknown): RedisRefusalError | undefined {
  const code = redisErrorCode(error);
  const text = code === undefined ? undefined : advice[code];
  if (code === undefined || text === undefined || !(error instanceof Error)) return undefined;
  return new RedisRefusalError(code, text, error);
}

/** For `catch`: rethrows an error, with advice on it if it is a refusal of Redis. */
export function throwRefusal(error: unknown): never {
  throw redisRefusalOf(error) ?? error;
}
