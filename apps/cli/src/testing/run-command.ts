import { spawn } from "node:child_process";
import { inRepository } from "../repository.ts";
import { plainEnvironment } from "./config.ts";

/** What a command came to. */
export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `drover ...WORDS` to its end, with nobody at a terminal. */
export const runDrover = (
  words: readonly string[],
  { cwd, env = {} }: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<Ran> => runNode([inRepository("apps/cli/src/main.ts"), ...words], { cwd, env });

/** Runs this Node to its end. */
export function runNode(
  args: readonly string[],
  { cwd, env = {} }: { readonly cwd?: string | undefined; readonly env?: Readonly<Record<string, string>> },
): Promise<Ran> {
  const child = spawn(process.execPath, args, {
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
