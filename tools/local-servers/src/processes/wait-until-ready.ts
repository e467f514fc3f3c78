import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { Exit, TiedProcess } from "./tied-process.ts";

export interface ReadyOptions {
  /** How long the child may take. Default 30,000. */
  timeoutMs?: number;
  /** Giving up stops the child and rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** A child process ended before it was ready, or was not ready in time. The message ends with its last output. */
export class StartError extends Error {
  override name = "StartError";
  /** The whole output; a server's temporary folder is removed when its start fails, and this with it. */
  readonly logFile: string;

  constructor(message: string, logFile: string) {
    super(message);
    this.logFile = logFile;
  }
}

/**
 * Waits until `probe` answers true. It is asked again and again: false means "not yet", and it must end when its
 * signal is aborted. What it throws ends the wait.
 *
 * When the child ends first, or is not ready in time, rejects with the last lines of its log. Whenever this rejects,
 * the child is gone.
 */
export async function waitUntilReady(
  child: TiedProcess,
  probe: (signal: AbortSignal) => Promise<boolean>,
  { timeoutMs = 30_000, signal }: ReadyOptions = {},
): Promise<void> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const over = new AbortController();
  const giveUp = AbortSignal.any([timeout, over.signal, ...(signal ? [signal] : [])]);
  const early = child.exited.then((exit) => ({ exit }));
  try {
    const outcome = await Promise.race([pollUntilReady(probe, giveUp), early]);
    if (typeof outcome === "object") {
      throw await startError(child, `ended before it was ready (${describe(outcome.exit)})`);
    }
    if (outcome === "ready") return;
    await child.stop();
    signal?.throwIfAborted();
    throw await startError(child, `was not ready after ${timeoutMs} ms`);
  } catch (error) {
    await child.stop();
    throw error;
  } finally {
    over.abort();
  }
}

async function pollUntilReady(
  probe: (signal: AbortSignal) => Promise<boolean>,
  giveUp: AbortSignal,
): Promise<"ready" | "given up"> {
  while (!giveUp.aborted) {
    if (await probe(giveUp)) return "ready";
    await delay(20, undefined, { signal: giveUp }).catch(() => undefined);
  }
  return "given up";
}

async function startError({ name, logFile }: TiedProcess, what: string): Promise<StartError> {
  const lines = await lastLines(logFile, 20);
  const log = lines === "" ? "It has logged nothing." : `The end of its log:\n${lines}`;
  return new StartError(`${name} ${what}. ${log}`, logFile);
}

function describe({ code, signal }: Exit): string {
  return signal === null ? `exit code ${String(code)}` : signal;
}

/** The last lines of a text file; empty when there is no such file. */
export async function lastLines(file: string, count: number): Promise<string> {
  const text = await readFile(file, "utf8").catch(() => "");
  return text.trimEnd().split("\n").slice(-count).join("\n");
}
