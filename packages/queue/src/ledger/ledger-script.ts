import { type LuaScript, defineLuaScript } from "../redis/lua/lua-script.ts";
import { entryLua } from "./scripts/entry.ts";
import { orderLua } from "./scripts/order.ts";
import { adoptionLua, preambleLua } from "./scripts/preamble.ts";

/** Arguments of every script, in front of its own. */
const commonArguments = ["now", "server", "lease", "settling"] as const;
export type CommonArgument = (typeof commonArguments)[number];

/** A script of one controller's ledger. */
export type LedgerScript<Name extends string> = LuaScript<Name | CommonArgument>;

/**
 * Composes a script: common and own arguments, the preamble (`scripts/scene.ts`), entries, their order, the Lua in
 * `uses`, and the body. If the server or its data are new, the script first adopts the ledger. It returns `{
 * incarnation, answer }`; a new incarnation means that data may be lost.
 *
 * A ledger that a newer Drover wrote is refused with the error `SCHEMA <number>`.
 */
export function defineLedgerScript<const Name extends string>(definition: {
  readonly name: string;
  readonly arguments: readonly Name[];
  /** Lua that the body uses in addition to the preamble, entries and their order. */
  readonly uses: readonly string[];
  readonly body: string;
}): LedgerScript<Name> {
  return defineLuaScript(
    definition.name,
    [...commonArguments, ...definition.arguments],
    [
      preambleLua,
      "local function main()",
      entryLua,
      orderLua,
      "if (tonumber(control.schema) or SCHEMA) > SCHEMA then return redis.error_reply('SCHEMA ' .. control.schema) end",
      `if control.server ~= server or not control.era then\n${adoptionLua}\nadopt()\nend`,
      ...definition.uses,
      `local function run()\n${definition.body}\nend`,
      "local answer = run()",
      "saveControl()",
      "return { control.era, answer }",
      "end",
      "return main()",
    ].join("\n"),
  );
}
