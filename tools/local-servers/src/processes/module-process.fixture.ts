import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";

/** Runs the text of a module in a process that is killed after the test; resolves with the first line that it prints. */
export async function startModule(
  source: string,
  ...args: readonly string[]
): Promise<{ readonly child: ChildProcess; readonly line: string }> {
  const child = spawn(process.execPath, ["--input-type=module", "-e", source, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  for await (const line of createInterface({ input: child.stdout })) return { child, line };
  throw new Error("The module printed nothing.");
}

/** Kills a process as a crash does, and waits for its end. */
export async function killed(child: ChildProcess): Promise<void> {
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}
