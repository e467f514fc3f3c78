import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { environment } from "./config.ts";

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly signal?: AbortSignal;
}

/** A program that ended with another exit code than 0. */
export class FailedRunError extends Error {
  override readonly name = "FailedRunError";
  readonly code: number | NodeJS.Signals | null;
  constructor(command: readonly string[], code: number | NodeJS.Signals | null, output: string) {
    super(
      `${command.join(" ")} failed (${String(code)}):\n${output.trimEnd().split("\n").slice(-20).join("\n")}`,
    );
    this.code = code;
  }
}

/**
 * Runs a program to its end and answers what it wrote to standard output.
 * @throws FailedRunError with the end of what it wrote.
 */
export async function run(
  command: readonly [string, ...string[]],
  options: RunOptions = {},
): Promise<string> {
  const [program, ...args] = command;
  const { env = {}, cwd, signal } = options;
  const child = spawn(program, args, {
    env: { ...environment(), ...env },
    stdio: ["ignore", "pipe", "pipe"],
    ...(cwd === undefined ? {} : { cwd }),
  });
  const kill = () => child.kill("SIGKILL");
  signal?.addEventListener("abort", kill);
  try {
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
    if (child.exitCode !== 0)
      throw new FailedRunError(command, child.exitCode ?? child.signalCode, out + err);
    return out;
  } finally {
    signal?.removeEventListener("abort", kill);
  }
}
