import { spawnTied, type TiedProcessOptions } from "./tied-process.ts";
import { lastLines } from "./wait-until-ready.ts";

/** A program ended with a failure. The message ends with its last output. */
export class ProgramError extends Error {
  override name = "ProgramError";
}

/**
 * Runs a program to its end; it dies with this process. Rejects with the end of its log when it fails, and with the
 * signal's reason when that fires; the program is gone then.
 */
export async function runTied(options: TiedProcessOptions, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  const child = await spawnTied(options);
  const stop = () => void child.stop();
  signal?.addEventListener("abort", stop, { once: true });
  if (signal?.aborted) stop();
  const { code } = await child.exited.finally(() => signal?.removeEventListener("abort", stop));
  signal?.throwIfAborted();
  if (code === 0) return;
  const command = [options.command, ...(options.args ?? [])].join(" ");
  throw new ProgramError(`${command} failed. Its last lines:\n${await lastLines(child.logFile, 20)}`);
}
