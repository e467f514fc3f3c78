import { goEnvironment } from "@drover/local-servers";
import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** Runs the Go program of a folder with these lines as its input. Returns the lines of its output. */
export async function goLines(cwd: string, lines: readonly string[]): Promise<readonly string[]> {
  const env = { ...process.env, ...goEnvironment };
  const running = promisify(execFile)("go", ["run", "-mod=readonly", "."], { cwd, env, maxBuffer: 1e9 });
  running.child.stdin?.end(lines.map((one) => `${one}\n`).join(""));
  return (await running).stdout.trimEnd().split("\n");
}
