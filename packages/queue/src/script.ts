import { type Lua, lua } from "./lua.ts";
import { entry } from "./scripts/entry.ts";
import { order } from "./scripts/order.ts";
import { adoption, scene } from "./scripts/scene.ts";

/** What every script is told beside its own arguments. */
const told = ["now", "server", "lease", "settling"] as const;
export type Told = (typeof told)[number];

/** A script of the ledger of one controller. */
export type Script<Name extends string> = Lua<Name | Told>;

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
  return lua(
    definition.name,
    [...told, ...definition.arguments],
    [
      scene,
      "local function main()",
      entry,
      order,
      "if (tonumber(control.schema) or SCHEMA) > SCHEMA then return redis.error_reply('SCHEMA ' .. control.schema) end",
      `if control.server ~= server or not control.era then\n${adoption}\nadopt()\nend`,
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
