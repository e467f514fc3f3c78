import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { z } from "zod";

/** What a run says about itself while it runs, in `running.json`. */
const runningSchema = z.object({
  pid: z.number(),
  since: z.string(),
  kubeconfig: z.string(),
  /** The processes that it has started and that run now, by what they are. */
  processes: z.record(z.string(), z.number()),
});
export type Running = z.output<typeof runningSchema>;

/** Where a run keeps its files. One run at a time has it. */
export interface RunFolder {
  readonly path: string;
  readonly logs: string;
  /** Where our own API server writes one. */
  readonly kubeconfig: string;
  /** What a run that ended without cleaning up has said about itself. */
  readonly crashed: Running | undefined;
  /** Says of a process that it is this run's, in place of an earlier one of that name. */
  readonly noteProcess: (name: string, pid: number) => void;
  /** Gives the folder back. */
  readonly release: () => void;
}

/** Somebody else has the folder. */
export class AlreadyRunningError extends Error {
  override readonly name = "AlreadyRunningError";
  constructor(path: string, by: Running | undefined) {
    const who = by === undefined ? "" : ` (process ${by.pid}, since ${by.since})`;
    const stop = by === undefined ? "Stop it with Ctrl-C" : `Stop it with Ctrl-C, or: kill ${by.pid}`;
    const use = by === undefined ? "" : ` To use it: export KUBECONFIG=${by.kubeconfig}`;
    super(
      `Drover is running here already${who}. ${stop}. ` +
        `To run another one beside it, give that a folder of its own: npm start -- --dir FOLDER (this is ${path}).${use}`,
    );
  }
}

/**
 * Takes a folder for this run, and clears away what an earlier run has left in it.
 *
 * @param given the kubeconfig of the cluster that this run uses, where it does not start one.
 * The lock is SQLite's on a file, which the kernel releases however its holder ends: a folder left by a crash is never
 * taken for one in use, nor the other way round.
 *
 * @throws AlreadyRunningError
 */
export function takeRunFolder(path: string, given?: string): RunFolder {
  const files = {
    logs: join(path, "logs"),
    kubeconfig: join(path, "kubeconfig"),
    running: join(path, "running.json"),
  };
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const unlock = lock(join(path, "lock"));
  const left = readRunning(files.running);
  if (unlock === undefined) throw new AlreadyRunningError(path, left);
  for (const file of Object.values(files)) rmSync(file, { recursive: true, force: true });
  mkdirSync(files.logs);
  const running = {
    pid: process.pid,
    since: new Date().toISOString(),
    kubeconfig: given ?? files.kubeconfig,
    processes: {},
  };
  // Whole at any time, for whoever reads it.
  const note = (now: Running): void => {
    writeFileSync(`${files.running}.new`, `${JSON.stringify(now, null, 2)}\n`);
    renameSync(`${files.running}.new`, files.running);
  };
  note(running);
  return {
    path,
    logs: files.logs,
    kubeconfig: files.kubeconfig,
    crashed: left,
    noteProcess: (name, pid) => {
      Object.assign(running.processes, { [name]: pid });
      note(running);
    },
    release: () => {
      rmSync(files.running, { force: true });
      unlock();
    },
  };
}

function readRunning(file: string): Running | undefined {
  try {
    return runningSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return undefined;
  }
}

/** SQLITE_BUSY */
const busy = 5;

/** Answers how to unlock, or undefined when another process has the lock. */
function lock(file: string): (() => void) | undefined {
  const database = new DatabaseSync(file);
  try {
    database.exec("BEGIN EXCLUSIVE");
    return () => database.close();
  } catch (error) {
    database.close();
    if (error instanceof Error && "errcode" in error && error.errcode === busy) return undefined;
    throw error;
  }
}
