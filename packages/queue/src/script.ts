import { createHash } from "node:crypto";
import type { RedisConnection } from "./redis-connection.ts";
import { redisErrorCode, throwRefusal } from "./redis-errors.ts";
import { entry } from "./scripts/entry.ts";
import { order } from "./scripts/order.ts";
import { adoption, scene } from "./scripts/scene.ts";

/** What a script is called with: every value travels as text. */
export type ScriptArguments<Name extends string> = Readonly<Record<Name, string | number>>;

/** What every script is told beside its own arguments. */
const told = ["now", "server", "lease", "settling"] as const;
export type Told = (typeof told)[number];

/** A Lua script with named arguments, run on the ledger of one controller. */
export interface Script<Name extends string> {
  readonly name: string;
  readonly lua: string;
  readonly sha: string;
  readonly arguments: readonly (Name | Told)[];
}

/**
 * Compose a script: named arguments first, then the scene, what it uses, and what it does. It runs on a ledger that the
 * server at hand has adopted, and answers `{ era, answer }`: another era than before means that data may be lost.
 */
export function defineScript<const Name extends string>(definition: {
  readonly name: string;
  readonly arguments: readonly Name[];
  /** Lua that the body uses beside the scene, entries and their order. */
  readonly uses: readonly string[];
  readonly body: string;
}): Script<Name> {
  const names = [...told, ...definition.arguments];
  const lua = [
    ...names.map((name, i) => `local ${name} = ARGV[${i + 1}]`),
    scene,
    entry,
    order,
    "if (tonumber(control.schema) or SCHEMA) > SCHEMA then return redis.error_reply('SCHEMA ' .. control.schema) end",
    `if control.server ~= server or not control.era then\n${adoption}\nadopt()\nend`,
    ...definition.uses,
    `local function run()\n${definition.body}\nend`,
    "local answer = run()",
    "saveControl()",
    "return { control.era, answer }",
  ].join("\n");
  return { name: definition.name, arguments: names, lua, sha: createHash("sha1").update(lua).digest("hex") };
}

/**
 * Runs a script where `prefix` is the slot of one controller's keys. Loads it where the server does not know it yet.
 *
 * @throws RedisRefusalError when Redis refuses it until somebody acts: no memory, no permission.
 */
export async function runScript<Name extends string>(
  redis: RedisConnection,
  script: Script<Name>,
  prefix: string,
  values: ScriptArguments<Name | Told>,
): Promise<unknown> {
  const parameters = [1, prefix, ...script.arguments.map((name) => values[name])] as const;
  try {
    return await redis.evalsha(script.sha, ...parameters);
  } catch (error) {
    if (redisErrorCode(error) !== "NOSCRIPT") throwRefusal(error);
    return await redis.eval(script.lua, ...parameters).catch(throwRefusal);
  }
}
