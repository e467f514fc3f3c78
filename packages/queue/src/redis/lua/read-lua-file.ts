import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Reads a Lua file from a folder. Throws with what to do if the file did not come into a bundle. */
export function readLuaFile(folder: string, path: string): string {
  try {
    return readFileSync(join(folder, `${path}.lua`), "utf8");
  } catch (cause) {
    throw new Error(
      `There is no ${path}.lua in ${folder}. To bundle Drover, give esbuild the options ` +
        "--conditions=module,drover-bundle --loader:.lua=text: then the bundle contains its Lua files.",
      { cause },
    );
  }
}
