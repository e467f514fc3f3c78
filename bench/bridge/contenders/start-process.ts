import { lastLines, spawnTied, type TiedProcess, type TiedProcessOptions } from "@drover/local-servers";
import { now } from "../../../verification/harness/clock.ts";

/** A process under measurement, and when it was started: ms of the monotonic clock. */
export interface Started extends TiedProcess {
  readonly startedAt: number;
}

/** Starts a process with nothing in its environment that would tune it. */
export async function startProcess(options: TiedProcessOptions): Promise<Started> {
  const untuned = { NODE_OPTIONS: undefined, GOMEMLIMIT: undefined, GOGC: undefined, GODEBUG: undefined };
  const startedAt = now();
  const child = await spawnTied({ ...options, env: { ...untuned, ...options.env } });
  return { ...child, startedAt };
}

const patience = 900_000;

/** Asks until it is so. Rejects when the process ends before, or after a quarter of an hour. */
export async function untilSo(
  child: TiedProcess,
  what: string,
  ask: () => Promise<boolean> | boolean,
  every = 10,
): Promise<void> {
  const over = now() + patience;
  const ended = new AbortController();
  void child.exited.then(() => ended.abort());
  while (!(await ask())) {
    if (ended.signal.aborted)
      throw new Error(`${child.name} ended before it was ${what}:\n${await lastLines(child.logFile, 20)}`);
    if (now() > over) throw new Error(`${child.name} was not ${what} after ${patience / 1_000} s.`);
    await new Promise((resolve) => setTimeout(resolve, every));
  }
}
