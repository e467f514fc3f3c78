import { chmod, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { findLuacheck } from "./luacheck.ts";

let bin: string;
beforeEach(async () => {
  bin = await mkdtemp(join(tmpdir(), "drover-bin-"));
  await symlink("/bin/sh", join(bin, "sh"));
});
afterEach(() => rm(bin, { recursive: true, force: true }));

async function onPath(name: string, script: string) {
  await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`);
  await chmod(join(bin, name), 0o755);
}

it("returns the warnings of the luacheck on PATH, and rejects if it fails", async () => {
  await onPath(
    "luacheck",
    'case "$*" in *bad*) echo "bad.lua:1:2: (W113) wrong"; exit 1;; *none*) exit 4;; esac',
  );
  const luacheck = await findLuacheck({ path: bin });
  expect(await luacheck(["good.lua"], bin)).toEqual([]);
  expect(await luacheck(["bad.lua"], bin)).toEqual(["bad.lua:1:2: (W113) wrong"]);
  await expect(luacheck(["none.lua"], bin)).rejects.toThrow("luacheck failed");
});

it("says what to do if there is no luacheck, and apt-get cannot bring it", async () => {
  await onPath("apt-get", "echo no network today\nexit 100");
  const failure = String(
    await findLuacheck({ path: bin, cacheDir: join(bin, "cache") }).catch((e: unknown) => e),
  );
  expect(failure).toContain("apt install lua-check");
  expect(failure).toContain("no network today");
});
