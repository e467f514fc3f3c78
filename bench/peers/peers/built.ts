import { spawnTied } from "@drover/local-servers";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { lastLinesOf } from "../../bridge/contenders/last-lines.ts";

/** Runs a build tool, which knows by itself what has changed. Rejects with what it said last, and what it needs. */
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
  if (code !== 0) throw new Error(`It needs ${needs}. ${command} said:\n${await lastLinesOf(logFile)}`);
}
