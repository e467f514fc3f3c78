import { readLuaFile } from "@drover/queue";
import { join } from "node:path";

/** Reads a Lua file of this package, by its path in `src` without the extension: `scripts/hold`. */
export const luaFile = (path: string): string => readLuaFile(join(import.meta.dirname, ".."), path);
