import { spawnTied } from "@drover/local-servers";
import { createHash, randomUUID } from "node:crypto";
import { access, mkdir, readdir, readFile, rename } from "node:fs/promises";
import { setPriority } from "node:os";
import { join } from "node:path";
import { lastLinesOf } from "./last-lines.ts";

const cacheFolder = join(import.meta.dirname, "../../../.cache");

/**
 * Builds the Go program of a folder unless it is there, and gives its path. The first build takes a minute or two, and
 * Go's module proxy.
 *
 * @throws when Go is missing, or the build fails: the message carries the compiler's last lines
 */
export async function goProgram(
  name: string,
  moduleFolder: string,
  log: (line: string) => void,
): Promise<string> {
  const sources = (await readdir(moduleFolder)).sort();
  const hash = createHash("sha256");
  for (const source of sources) hash.update(source).update(await readFile(join(moduleFolder, source)));
  const folder = join(cacheFolder, name, hash.digest("hex").slice(0, 16));
  const program = join(folder, name);
  if (await exists(program)) return program;
  log(`building the Go program of ${name}`);
  await mkdir(folder, { recursive: true });
  const unfinished = join(folder, `.${randomUUID()}`);
  await build(moduleFolder, unfinished, join(folder, "build.log"));
  await rename(unfinished, program);
  return program;
}

async function build(moduleFolder: string, file: string, logFile: string): Promise<void> {
  const go = await spawnTied({
    name: "go build",
    command: "go",
    args: ["build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", file, "."],
    cwd: moduleFolder,
    env: { CGO_ENABLED: "0", GOWORK: "off" },
    logFile,
  });
  setPriority(go.pid, 10);
  const { code } = await go.exited;
  if (code === 0) return;
  const lines = await lastLinesOf(logFile);
  throw new Error(
    `The Go program was not built. It needs Go (https://go.dev/dl) and Go's module proxy. Output of go:\n${lines}`,
  );
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
