import * as constants from "./script-bounds.ts";
import { createHash } from "node:crypto";
import type { RedisConnection } from "../redis-servers.ts";
import { throwRefusal, redisErrorCode } from "../redis-errors.ts";
import { luaAssembler, luaSources } from "./assemble-lua.ts";
import { luaFile } from "#lua-file";
import type { Log, Milliseconds } from "@drover/controller";
import { Cluster } from "ioredis";
import { processTimers, sleep } from "@drover/timers";

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

/** A script that Redis runs by the SHA-1 of its text, once the text was loaded. */
export interface LoadableScript {
  readonly sha: string;
  readonly lua: string;
}

/** Redis lacks a script, and this process may not load it. */
export class ScriptsMissingError extends Error {
  override readonly name = "ScriptsMissingError";
}

/**
 * Pauses between two attempts to run a script that Redis lacks: after a restart, scripts are loaded within a second.
 */
const shortestPause: Milliseconds = 10;

const longestPause: Milliseconds = 250;

/** Scripts that are missing for longer than this are reported. */
const reportAfter: Milliseconds = 3_000;

/** How often a server that lacks scripts is checked for being a replica now. */
const roleCheckInterval: Milliseconds = 1_000;

interface ScriptWait {
  readonly log: Log;
  /** Waiting calls give up after this time. Undefined: never, as for a server that is away. */
  readonly timeout: Milliseconds | undefined;
  calls: number;
  /** Since when some call has been waiting without a break, by `performance.now()`. */
  since: number | undefined;
  isReported: boolean;
}

const scriptWaits = new WeakMap<RedisConnection, ScriptWait>();

/** From now on, calls of a script that this connection's server lacks wait for it: the user may not load scripts. */
export function waitForScripts(redis: RedisConnection, log: Log, timeout?: Milliseconds): void {
  scriptWaits.set(redis, { log, timeout, calls: 0, since: undefined, isReported: false });
}

/** An error if this connection has been waiting for scripts for so long that it should be reported. */
export function scriptsMissing(redis: RedisConnection): ScriptsMissingError | undefined {
  const wait = scriptWaits.get(redis);
  if (wait?.since === undefined || performance.now() - wait.since < reportAfter) return undefined;
  return new ScriptsMissingError(
    "Redis does not have the scripts of this version of Drover, and this process may not load them. A bridge or a " +
      "deployer of the same version loads them within a second: start it, or see its log, and " +
      "docs/operating-redis.md.",
  );
}

/**
 * Runs a script by its SHA-1. If the server lacks it, a process that may load scripts sends its text. Others wait until
 * a bridge or a deployer has loaded it, as for a server that still loads its data.
 *
 * @param keys how many of the arguments are keys; they come first.
 * @throws ScriptsMissingError if the connection waits for a limited time, and that is over.
 */
export async function runScript(
  redis: RedisConnection,
  { sha, lua }: LoadableScript,
  keys: number,
  args: readonly (string | number | Buffer)[],
): Promise<unknown> {
  const run = (): Promise<unknown> => redis.evalsha(sha, keys, ...args);
  try {
    return await run();
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  const wait = scriptWaits.get(redis);
  return wait === undefined ? redis.eval(lua, keys, ...args) : retryUntilLoaded(redis, wait, run);
}

const isMissing = (error: unknown): boolean => redisErrorCode(error) === "NOSCRIPT";

async function retryUntilLoaded(
  redis: RedisConnection,
  wait: ScriptWait,
  run: () => Promise<unknown>,
): Promise<unknown> {
  const begun = performance.now();
  wait.calls += 1;
  wait.since ??= begun;
  let askedRole = begun;
  try {
    for (let pause = shortestPause; ; pause = Math.min(2 * pause, longestPause)) {
      await sleep(processTimers, pause, "trying a missing script again");
      try {
        return await run();
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
      report(redis, wait);
      const now = performance.now();
      if (wait.timeout !== undefined && now - begun > wait.timeout) {
        throw scriptsMissing(redis) ?? new ScriptsMissingError("Redis does not have the scripts of Drover.");
      }
      if (now - askedRole > roleCheckInterval) {
        askedRole = now;
        await reconnectIfReplica(redis);
      }
    }
  } finally {
    wait.calls -= 1;
    if (wait.calls === 0) {
      if (wait.isReported) wait.log.info({}, "Redis has the scripts of Drover again");
      wait.isReported = false;
      wait.since = undefined;
    }
  }
}

function report(redis: RedisConnection, wait: ScriptWait): void {
  const missing = scriptsMissing(redis);
  if (missing === undefined || wait.isReported) return;
  wait.isReported = true;
  wait.log.warn({ err: missing }, "Waiting for scripts that Redis does not have");
}

/**
 * Reconnects if the server is a replica now. A replica that lacks a script answers NOSCRIPT where it would otherwise
 * refuse a write, so no error shows that it is not the primary any more. A cluster's node redirects instead.
 */
async function reconnectIfReplica(redis: RedisConnection): Promise<void> {
  if (redis instanceof Cluster) return;
  if (/^role:slave\r?$/m.test(await redis.info("replication"))) redis.disconnect(true);
}
