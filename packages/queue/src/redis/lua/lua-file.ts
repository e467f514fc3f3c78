import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The folder to which the paths of Lua files are relative. */
const source = join(import.meta.dirname, "../..");

/**
 * Reads a Lua file. In a bundle `lua-file.bundled.ts` takes the place of this module: see `imports` in package.json.
 *
 * @param path of the file in `src`, without its extension: `ledger/scripts/wake`.
 */
export function luaFile(path: string): string {
  try {
    return readFileSync(join(source, `${path}.lua`), "utf8");
  } catch (cause) {
    throw new Error(
      `There is no ${path}.lua in ${source}. To bundle Drover, give esbuild the options ` +
        "--conditions=module,drover-bundle --loader:.lua=text: then the bundle contains its Lua files.",
      { cause },
    );
  }
}
