import { messageOf } from "@drover/controller";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { z } from "zod";

/** The content of `running.json`, which describes a run in progress. */
const runningSchema = z.object({
  pid: z.number(),
  since: z.string(),
  kubeconfig: z.string(),
  /** The processes that it has started and that are running, by name. */
  processes: z.record(z.string(), z.number()),
});
export type RunState = z.output<typeof runningSchema>;

/** The folder with the files of a run. Only one run at a time may use it. */
export interface RunFolder {
  readonly path: string;
  readonly logs: string;
  /** The path of the kubeconfig that the run's own API server writes. */
  readonly kubeconfig: string;
  /** The `running.json` of a run that ended without cleaning up. */
  readonly crashed: RunState | undefined;
  /** Records a process of this run; it replaces an earlier one of that name. */
  readonly noteProcess: (name: string, pid: number) => void;
  /** Releases the folder. */
  readonly release: () => void;
}

/** The folder cannot be used. The message has the reason, and what to do. */
export class RunFolderError extends Error {
  override readonly name = "RunFolderError";
}

function alreadyRunning(path: string, by: RunState | undefined): RunFolderError {
  const holder = by === undefined ? "" : ` (process ${by.pid}, since ${by.since})`;
  const kill = by === undefined ? "" : `, or: kill ${by.pid}`;
  const use = by === undefined ? "" : ` To use it: export KUBECONFIG=${by.kubeconfig}`;
  return new RunFolderError(
    `Drover is running here already${holder}. Stop it with Ctrl-C${kill}. ` +
      `To run a second one, give it a folder of its own: npm start -- --dir FOLDER (this is ${path}).${use}`,
  );
}

/**
 * Takes a folder for this run, and removes the files that an earlier run left in it.
 *
 * The lock is SQLite's on a file. The kernel releases it however its holder ends, so a folder left by a crash never
 * counts as in use, and one in use never counts as free.
 *
 * @param given the kubeconfig of the given cluster, if the run does not start one.
 * @throws RunFolderError if another process uses the folder, or it cannot be made
 */
export function lockRunFolder(path: string, given?: string): RunFolder {
  const files = {
    logs: join(path, "logs"),
    kubeconfig: join(path, "kubeconfig"),
    running: join(path, "running.json"),
  };
  makeFolder(path);
  const unlock = lock(join(path, "lock"));
  const left = readRunning(files.running);
  if (unlock === undefined) throw alreadyRunning(path, left);
  for (const file of Object.values(files)) rmSync(file, { recursive: true, force: true });
  mkdirSync(files.logs);
  const running = {
    pid: process.pid,
    since: new Date().toISOString(),
    kubeconfig: given ?? files.kubeconfig,
    processes: {},
  };
  // Written atomically, so that readers never see an incomplete file.
  const note = (now: RunState): void => {
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

/** Makes a folder and its parents. The recursive mkdir of Node never returns for a path below /proc. */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (cause) {
    const message = `The folder ${path} cannot be made (${messageOf(cause)}). Choose another one: npm start -- --dir FOLDER`;
    throw new RunFolderError(message, { cause });
  }
}

function readRunning(file: string): RunState | undefined {
  try {
    return runningSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return undefined;
  }
}

/** SQLITE_BUSY */
const busy = 5;

/** Returns the function that unlocks, or undefined if another process holds the lock. */
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
