import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { expect } from "vitest";
import { z } from "zod";
import { repositoryPath } from "../package/repository-path.ts";
import { plainEnvironment } from "./config.ts";

/** The result of a command. */
export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface SpawnOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs `drover ...WORDS` to its end, without a terminal. */
export const spawnDrover = (words: readonly string[], where: SpawnOptions = {}): Promise<CommandResult> =>
  run(process.execPath, [repositoryPath("apps/cli/src/main.ts"), ...words], where);

const resultSchema = z.object({
  code: z.number(),
  stdout: z.string(),
  stderr: z.string(),
  /** True if the command has ended its process. */
  isLast: z.boolean(),
});
/** The result of a command, from `command-process.ts`. */
export type ProcessResult = z.output<typeof resultSchema>;
/** Processes that have run commands and run none now. They end with this one. */
const idle: ChildProcess[] = [];

/**
 * Runs `drover ...WORDS` to its end in a process that has run others before, in a third of the time. Not for commands that
 * load code of a folder, which would stay loaded, for those that end by a signal, and for variables that Node reads at its
 * start.
 */
export async function runDroverAgain(
  words: readonly string[],
  { env = {} }: Pick<SpawnOptions, "env"> = {},
): Promise<CommandResult> {
  if (Object.keys(env).some((name) => name.startsWith("NODE_"))) throw new Error("Use spawnDrover.");
  const child =
    idle.pop() ?? fork(repositoryPath("apps/cli/src/testing/command-process.ts"), { execArgv: [] });
  const ended = new AbortController();
  const end = (): void => ended.abort(new Error("The process ended without a result."));
  child.once("exit", end);
  const answered: Promise<readonly unknown[]> = once(child, "message", { signal: ended.signal });
  child.send({ words, env: { ...plainEnvironment(), ...env } });
  const { isLast, ...result } = resultSchema.parse((await answered)[0]);
  child.off("exit", end);
  if (!isLast) idle.push(child);
  return result;
}

/** A command must end with 1 and print what is wrong. Returns all that it printed as its error. */
export async function expectError(ran: Promise<CommandResult>, problem: string | RegExp): Promise<string> {
  const { stderr, code } = await ran;
  if (typeof problem === "string") expect(stderr).toContain(problem);
  else expect(stderr).toMatch(problem);
  expect(code).toBe(1);
  return stderr;
}

/** Runs `npm ...WORDS` in a folder, and returns its output; rejects with the output when it fails. */
export const runNpm = (cwd: string, ...words: readonly string[]): Promise<string> =>
  runCommand(cwd, "npm", ...words);

/** Runs a command in a folder, and returns its output; rejects with the output when it fails. */
export async function runCommand(cwd: string, command: string, ...words: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run(command, words, { cwd });
  if (code === 0) return stdout + stderr;
  throw new Error(stdout + stderr);
}

function run(
  command: string,
  args: readonly string[],
  { cwd, env = {} }: SpawnOptions,
): Promise<CommandResult> {
  const child = spawn(command, args, {
    cwd,
    env: { ...plainEnvironment(), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  return new Promise((resolve, reject) => {
    child.on("error", reject).on("close", (code) => resolve({ code, stdout, stderr }));
  });
}
