import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type DebianPackageOptions, ensureDebianProgram } from "./debian-package.ts";

/**
 * Runs luacheck with arguments in a folder.
 *
 * @returns its warnings, each as `FILE:LINE:COLUMN: (CODE) MESSAGE`. Rejects if it cannot run.
 */
export type Luacheck = (args: readonly string[], folder: string) => Promise<readonly string[]>;

/**
 * Finds luacheck, the linter of Lua: the one on PATH, or Debian's, which is unpacked beside the checkout.
 *
 * Rejects with what to do if there is neither.
 */
export async function findLuacheck(options: DebianPackageOptions = {}): Promise<Luacheck> {
  const { path = process.env["PATH"] } = options;
  const own: Luacheck = (args, folder) => run("luacheck", args, folder, { PATH: path });
  if (await works(own)) return own;
  const program = await ensureDebianProgram("lua-check", { ...options, program: "luacheck" }).catch(
    (cause: unknown) => {
      throw new Error(
        "luacheck is not on PATH, and apt-get could not bring it. Install it (Debian, Ubuntu: apt install lua-check; " +
          `macOS: brew install luacheck; elsewhere: luarocks install luacheck), and try again. ${String(cause)}`,
        { cause },
      );
    },
  );
  const here = join(dirname(program), "usr");
  const libraries = await readdir(join(here, "lib")).catch(() => []);
  const env = {
    PATH: `${here}/bin:${path}`,
    LUA_PATH: `${here}/share/lua/5.1/?.lua;${here}/share/lua/5.1/?/init.lua;;`,
    LUA_CPATH: `${libraries.map((each) => `${here}/lib/${each}/lua/5.1/?.so;`).join("")};`,
  };
  return (args, folder) => run(program, args, folder, env);
}

const works = (luacheck: Luacheck): Promise<boolean> =>
  luacheck(["--version"], "/").then(
    () => true,
    () => false,
  );

/** luacheck exits with 1 or 2 if it has found something, and with more if it failed. */
function run(
  command: string,
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    execFile(
      command,
      ["--codes", "--formatter", "plain", "--no-cache", ...args],
      { cwd, env },
      (error, stdout, stderr) => {
        if (error !== null && error.code !== 1 && error.code !== 2)
          reject(new Error(`luacheck failed:\n${stdout}${stderr}`, { cause: error }));
        else resolve(stdout.split("\n").filter((line) => line !== ""));
      },
    );
  });
}
