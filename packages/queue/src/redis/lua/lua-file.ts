import { join } from "node:path";
import { readLuaFile } from "./read-lua-file.ts";

/**
 * Reads a Lua file of this package. In a bundle `lua-file.bundled.ts` takes the place of this module: see `imports` in
 * package.json.
 *
 * @param path of the file in `src`, without its extension: `ledger/scripts/wake`.
 */
export const luaFile = (path: string): string => readLuaFile(join(import.meta.dirname, "../.."), path);
