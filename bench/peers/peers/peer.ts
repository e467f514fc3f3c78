import { killAll, lastLines } from "@drover/local-servers";
import { join } from "node:path";
import { readFile } from "node:fs/promises";
import { type Started, startProcess } from "../../bridge/contenders/start-process.ts";

/** A compared implementation. */
export interface Peer {
  readonly name: string;
  /** Builds what is missing. Rejects, saying why, where it cannot be built here. */
  prepare(log: (line: string) => void): Promise<Prepared>;
}

/** Takes the stage, with all that outlives its processes. */
export type Prepared = (ground: Ground) => Promise<Contestant>;

export interface Ground {
  readonly kubeconfig: string;
  /** For what it logs. */
  readonly folder: string;
  /** Reconciles at once in one process, where a peer has such a number. */
  readonly workers: number;
  /** How long each reconcile that writes waits for something outside first. */
  readonly workMs: number;
}

export interface Contestant {
  /** What works on while its own processes come and go, by what it is. */
  readonly beside: Readonly<Record<string, number>>;
  start(): Promise<AtWork>;
  close(): Promise<void>;
}

export interface AtWork {
  /** When its first process was started: ms of the monotonic clock. */
  readonly startedAt: number;
  /** Its own processes, by what each is. */
  readonly pids: Readonly<Record<string, number>>;
  /** Rejects when one of them ends by itself. */
  readonly died: Promise<never>;
  /** SIGKILL for all of them; resolves when they are gone. */
  kill(): Promise<unknown>;
  /** An orderly end; how often it has reconciled. */
  stop(): Promise<number>;
}

export interface Command {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Of a controller that is one process, and keeps nothing outside of it. */
export const alone =
  (name: string, { command, args, env }: Command): Prepared =>
  ({ kubeconfig, folder, workers, workMs }) => {
    const runsFile = join(folder, `${name}.runs`);
    return Promise.resolve({
      beside: {},
      async start() {
        const child = await startProcess({
          name,
          command,
          args: [...args],
          logFile: join(folder, `${name}.log`),
          env: {
            KUBECONFIG: kubeconfig,
            BENCH_WORKERS: String(workers),
            BENCH_RUNS_FILE: runsFile,
            BENCH_WORK_MS: String(workMs),
            ...env,
          },
        });
        return atWork([{ ...child, name: "controller" }], [runsFile]);
      },
      close: () => Promise.resolve(),
    });
  };

/** Processes that work together, in the order in which they are to end, and where they write down how often they ran. */
export const atWork = (all: readonly Started[], runsFiles: readonly string[]): AtWork => ({
  startedAt: Math.min(...all.map(({ startedAt }) => startedAt)),
  pids: Object.fromEntries(all.map(({ pid, name }) => [name, pid])),
  died: endOf(all),
  kill: () => killAll(all),
  stop: () => runsOf(all, runsFiles),
});

/** Rejects when one of the processes ends, with its last lines of output. */
function endOf(children: readonly Started[]): Promise<never> {
  const ends = children.map(async ({ name, exited, logFile }): Promise<never> => {
    await exited;
    throw new Error(`${name} has ended:\n${await lastLines(logFile, 20)}`);
  });
  const died = Promise.race(ends);
  // Processes that the bench stops end as well; by then this promise has no reader.
  for (const each of [died, ...ends]) each.catch(() => undefined);
  return died;
}

/** Ends processes in their order; what they have written down. */
async function runsOf(children: readonly Started[], runsFiles: readonly string[]): Promise<number> {
  for (const child of children) await child.stop();
  const runs = await Promise.all(runsFiles.map((file) => readFile(file, "utf8")));
  return runs.reduce((sum, text) => sum + Number(text), 0);
}
