import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isRunning } from "@drover/local-servers";
import { expect, vi } from "vitest";
import { z } from "zod";
import { repositoryPath } from "../repository-path.ts";

/** A running demo, without a terminal. */
export interface DemoProcess {
  readonly pid: number;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string | null>;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Closes its output, as a pipe's reader does that ends. */
  readonly closeOutput: () => void;
  /** All output so far. */
  readonly output: () => string;
  /** Resolves when the output matches; rejects if the demo ends first. */
  readonly waitForOutput: (what: RegExp) => Promise<void>;
  /** The processes that it runs, by name. */
  readonly processes: () => Readonly<Record<string, number>>;
}

/** How long a step may take on a slow machine. No test waits for this time to pass. */
const outputTimeout = 100_000;
const running = z.object({ processes: z.record(z.string(), z.number()) });

/** Starts the demo with `--dir DIR ...ARGS`. Its servers die with it; the caller ends it. */
export function startDemoProcess(dir: string, args: readonly string[] = []): DemoProcess {
  const main = repositoryPath("examples/demo/src/main.ts");
  const child = spawn(process.execPath, [main, "--dir", dir, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => (text += chunk.toString()));
  }
  const ended = once(child, "close").then(() => child.exitCode ?? child.signalCode);
  return {
    pid: child.pid ?? 0,
    ended,
    kill: (signal) => void child.kill(signal),
    closeOutput: () => void child.stdout.destroy(),
    output: () => text,
    waitForOutput: async (what) => {
      const matched = vi.waitFor(() => expect(text).toMatch(what), { timeout: outputTimeout, interval: 50 });
      await Promise.race([matched, ended.then(() => expect(text).toMatch(what))]);
    },
    processes: () => running.parse(JSON.parse(readFileSync(join(dir, "running.json"), "utf8"))).processes,
  };
}

/** Until none of these processes runs. */
export const waitUntilGone = (pids: readonly number[]): Promise<void> =>
  vi.waitFor(() => expect(pids.filter(isRunning)).toEqual([]), { timeout: 30_000 });
