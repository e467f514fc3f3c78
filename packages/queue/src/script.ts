import { type Lua, lua } from "./lua.ts";
import { entry } from "./scripts/entry.ts";
import { order } from "./scripts/order.ts";
import { adoption, scene } from "./scripts/scene.ts";

/** Arguments of every script, in front of its own. */
const told = ["now", "server", "lease", "settling"] as const;
export type Told = (typeof told)[number];

/** A script of one controller's ledger. */
export type Script<Name extends string> = Lua<Name | Told>;

/**
 * Composes a script: common and own arguments, the scene (`scripts/scene.ts`), entries, their order, the Lua in `uses`,
 * and the body. If the server or its data are new, the script first adopts the ledger. It returns `{ era, answer }`; a
 * new era means that data may be lost.
 *
 * A ledger that a newer Drover wrote is refused with the error `SCHEMA <number>`.
 */
export function defineScript<const Name extends string>(definition: {
  readonly name: string;
  readonly arguments: readonly Name[];
  /** Lua that the body uses in addition to the scene, entries and their order. */
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
