import * as bounds from "../redis/lua/script-bounds.ts";
import { luaAssembler, luaSources } from "../redis/lua/assemble-lua.ts";
import { luaFile } from "#lua-file";
import { type LuaScript, defineLuaScript } from "../redis/lua/lua-script.ts";
import { maxCachedObjectBytes, maxDeltaBytes, maxListingAge, maxSeenBytes } from "../cache/cache-bounds.ts";
import { maxPastRuns, overdueJobAge } from "./ledger.ts";

/** Arguments of every script, in front of its own. */
const commonArguments = ["now", "server", "lease", "recoveryWindow"] as const;
export type CommonArgument = (typeof commonArguments)[number];

/** A script of one controller's ledger. */
export type LedgerScript<Name extends string> = LuaScript<Name | CommonArgument>;

/** `guard.lua` declares the other three in every script. */
const { maxArgumentBytes, maxJsonBytes, maxListItems, ...ownBounds } = bounds;

export const ledgerLua = luaSources(luaFile, {
  ...ownBounds,
  maxCachedObjectBytes,
  maxDeltaBytes,
  maxListingAge,
  maxSeenBytes,
  maxPastRuns,
  overdueJobAge,
});

/**
 * Makes a script of the ledger from a file in `scripts/`, with what it includes from `rules/`: `preamble.lua` comes
 * first, and `answer.lua` runs the script. The functions that only `adopt` needs are made when it is called.
 *
 * Nearly all functions stand in one function: a Lua function that captures a local of the script's beginning would
 * search all that were captured since.
 */
export function defineLedgerScript<const Name extends string>(
  name: string,
  file: string,
  names: readonly Name[],
): LedgerScript<Name> {
  const add = luaAssembler(ledgerLua);
  return defineLuaScript(
    name,
    [...commonArguments, ...names],
    [
      add("ledger/rules/preamble"),
      "local function main()",
      add(`ledger/scripts/${file}`, (body) => `local function run()\n${body}\nend`),
      "local function adopt()",
      add("ledger/rules/adoption"),
      "end",
      add("ledger/rules/answer"),
      "end",
      "return main()",
    ].join("\n"),
  );
}
