import { spawnTied } from "@drover/local-servers";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { lastLinesOf } from "../../bridge/contenders/last-lines.ts";

/** Runs a build tool, which rebuilds only changes. Rejects with its last lines of output, and its requirements. */
export async function built(build: {
  readonly command: string;
  readonly args: string[];
  readonly cwd: string;
  readonly logFile: string;
  readonly needs: string;
}): Promise<void> {
  const { command, args, cwd, logFile, needs } = build;
  await mkdir(dirname(logFile), { recursive: true });
  const tool = await spawnTied({ name: command, command, args, cwd, logFile });
  const { code } = await tool.exited;
  if (code !== 0) throw new Error(`It needs ${needs}. Output of ${command}:\n${await lastLinesOf(logFile)}`);
}
