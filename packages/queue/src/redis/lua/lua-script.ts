import * as constants from "./script-bounds.ts";
import { createHash } from "node:crypto";
import type { RedisConnection } from "../redis-servers.ts";
import { throwRefusal } from "../redis-errors.ts";
import { type LoadableScript, runScript } from "./run-script.ts";
import { luaAssembler, luaSources } from "./assemble-lua.ts";
import { luaFile } from "#lua-file";

/** The arguments of a script, by name. Redis receives each as text. */
export type LuaArguments<Name extends string> = Readonly<Record<Name, string | number>>;

/** A Lua script with named arguments. Its Redis keys are in one hash slot and start with the prefix `KEYS[1]`. */
export interface LuaScript<Name extends string> extends LoadableScript {
  readonly name: string;
  readonly arguments: readonly Name[];
}

/** The beginning of every script. */
const guard = luaAssembler(luaSources(luaFile, constants))("redis/lua/guard");

/**
 * Makes a script. Its body, as `luaAssembler` returns it, finds each argument in a local variable of that name, and the
 * functions of `guard.lua`.
 */
export function defineLuaScript<const Name extends string>(
  name: string,
  names: readonly Name[],
  body: string,
): LuaScript<Name> {
  const text = [
    guard,
    `if #KEYS ~= 1 or #ARGV > ${names.length} then refuse('so many arguments') end`,
    ...names.map((each, i) => `local ${each} = ARGV[${i + 1}]`),
    body,
  ].join("\n");
  return { name, arguments: names, ...loadableScript(text) };
}

/** A script's text, and the SHA-1 by which Redis identifies it. */
export const loadableScript = (text: string): LoadableScript => ({
  lua: text,
  sha: createHash("sha1").update(text).digest("hex"),
});

/**
 * Runs a script. It may run twice if an answer is lost, so it must be safe to repeat.
 *
 * @throws RedisRefusalError if Redis refuses it until an operator acts: no memory, no permission.
 */
export function callLua<Name extends string>(
  redis: RedisConnection,
  script: LuaScript<Name>,
  prefix: string,
  values: LuaArguments<Name>,
): Promise<unknown> {
  const args = script.arguments.map((name) => values[name]);
  return runScript(redis, script, 1, [prefix, ...args]).catch(throwRefusal);
}
