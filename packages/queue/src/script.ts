import type { Redis } from "ioredis";
import { createHash } from "node:crypto";

/** What a script is called with: every value travels as text. */
export type ScriptArguments<Name extends string> = Readonly<Record<Name, string | number>>;

/** A Lua script with named arguments, run on the ledger of one controller. */
export interface Script<Name extends string> {
  readonly name: string;
  readonly lua: string;
  readonly sha: string;
  readonly arguments: readonly Name[];
}

/** Compose a script: named arguments first, then the functions it uses, then what it does. */
export function defineScript<const Name extends string>(definition: {
  readonly name: string;
  readonly arguments: readonly Name[];
  /** Lua functions that the body uses, in order. */
  readonly uses: readonly string[];
  readonly body: string;
}): Script<Name> {
  const named = definition.arguments.map((name, i) => `local ${name} = ARGV[${i + 1}]`);
  const lua = [...named, ...definition.uses, definition.body].join("\n");
  return {
    name: definition.name,
    arguments: definition.arguments,
    lua,
    sha: createHash("sha1").update(lua).digest("hex"),
  };
}

/** Runs a script where `prefix` is the slot of one controller's keys. Loads it where the server does not know it yet. */
export async function runScript<Name extends string>(
  redis: Redis,
  script: Script<Name>,
  prefix: string,
  values: ScriptArguments<Name>,
): Promise<unknown> {
  const parameters = [1, prefix, ...script.arguments.map((name) => values[name])] as const;
  try {
    return await redis.evalsha(script.sha, ...parameters);
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith("NOSCRIPT")) throw error;
    return await redis.eval(script.lua, ...parameters);
  }
}
