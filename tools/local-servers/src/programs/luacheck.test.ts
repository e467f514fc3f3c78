import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { findLuacheck } from "./luacheck.ts";
import { programsIn } from "./path.fixture.ts";
import { folderOfTest } from "../../../../packages/testing/src/folder.fixture.ts";

let bin: string;
let onPath: ReturnType<typeof programsIn>;
beforeEach(() => void (onPath = programsIn((bin = folderOfTest()))));

it("returns the warnings of the luacheck on PATH, and rejects if it fails", async () => {
  onPath("luacheck", 'case "$*" in *bad*) echo "bad.lua:1:2: (W113) wrong"; exit 1;; *none*) exit 4;; esac');
  const luacheck = await findLuacheck({ path: bin });
  expect(await luacheck(["good.lua"], bin)).toEqual([]);
  expect(await luacheck(["bad.lua"], bin)).toEqual(["bad.lua:1:2: (W113) wrong"]);
  await expect(luacheck(["none.lua"], bin)).rejects.toThrow("luacheck failed");
});

it("rejects with what to do if there is no luacheck, and apt-get cannot install it", async () => {
  onPath("apt-get", "echo no network today\nexit 100");
  const failure = String(
    await findLuacheck({ path: bin, cacheDir: join(bin, "cache") }).catch((e: unknown) => e),
  );
  expect(failure).toContain("apt install lua-check");
  expect(failure).toContain("no network today");
});
