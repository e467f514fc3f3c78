import { createHash } from "node:crypto";
import type { RedisConnection } from "./redis-connection.ts";
import { redisErrorCode, throwRefusal } from "./redis-errors.ts";

/** What a script is called with: every value travels as text. */
export type LuaArguments<Name extends string> = Readonly<Record<Name, string | number>>;

/** A Lua script with named arguments that works on the keys of one hash slot, whose prefix is `KEYS[1]`. */
export interface Lua<Name extends string> {
  readonly name: string;
  readonly lua: string;
  readonly sha: string;
  readonly arguments: readonly Name[];
}

/** A script whose body finds its arguments in locals of their names. */
export function lua<const Name extends string>(
  name: string,
  names: readonly Name[],
  body: string,
): Lua<Name> {
  const text = [...names.map((each, i) => `local ${each} = ARGV[${i + 1}]`), body].join("\n");
  return { name, lua: text, sha: createHash("sha1").update(text).digest("hex"), arguments: names };
}

/**
 * Runs a script. Loads it where the server does not know it yet. It may run twice when an answer is lost: it must be
 * safe to repeat.
 *
 * @throws RedisRefusalError when Redis refuses it until somebody acts: no memory, no permission.
 */
export async function callLua<Name extends string>(
  redis: RedisConnection,
  script: Lua<Name>,
  prefix: string,
  values: LuaArguments<Name>,
): Promise<unknown> {
  const parameters = [1, prefix, ...script.arguments.map((name) => values[name])] as const;
  try {
    return await redis.evalsha(script.sha, ...parameters);
  } catch (error) {
    if (redisErrorCode(error) !== "NOSCRIPT") throwRefusal(error);
    return await redis.eval(script.lua, ...parameters).catch(throwRefusal);
  }
}
