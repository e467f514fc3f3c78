import { messageOf } from "@drover/controller";
import { type Exit, spawnTied, type TiedProcess, waitUntilReady } from "@drover/local-servers";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { EnvironmentVariables } from "../config.ts";
import { repositoryPath } from "../repository-path.ts";
import { isServerReady } from "../servers/api-server.ts";
import { type LogLine, parseLogLine } from "./log-line.ts";
import { formatSeconds } from "../story/narrator.ts";
import type { DemoRun } from "../demo-run.ts";

/** A process of Drover: it logs JSON lines, one of which has the `url` of its `/readyz`. */
export interface ProcessDescription {
  /** The process's name in messages. */
  readonly name: string;
  /** Name of its log file, without `.log`. */
  readonly file: string;
  /** The path of its main module in the repository. */
  readonly main: string;
  readonly environment: EnvironmentVariables;
  readonly onLine: (line: LogLine) => void;
}

/** A process that is started again when it dies. */
export interface SupervisedProcess {
  /** Id of the current process. */
  readonly pid: number;
}

/** The number of deaths within a minute at which it is no longer restarted. */
const maxExits = 5;
const aMinute = 60_000;
const restartAfter = 500;
/** How long runs in progress may take to end. */
const grace = { setting: "10s", killedAfter: 12_000 };

/** Starts a process, waits until it is ready, and starts it again whenever it dies. */
export async function superviseProcess(
  description: ProcessDescription,
  run: DemoRun,
): Promise<SupervisedProcess> {
  const { narrator, request, opened } = run;
  const { name } = description;
  const begun = performance.now();
  const current = { child: await launch(description, run) };
  let stopping = false;
  const kept = restartOnExit(current, description, run, () => stopping).catch((error: unknown) => {
    const problem = messageOf(error);
    if (!stopping) request.stop({ kind: "broken", problem });
  });
  opened.push({
    name,
    stop: async () => {
      stopping = true;
      await current.child.stop({ graceMs: grace.killedAfter });
      await kept;
    },
  });
  const { pid } = current.child;
  narrator.print(`${capital(name)} started in ${formatSeconds(performance.now() - begun)}: process ${pid}`);
  return {
    get pid() {
      return current.child.pid;
    },
  };
}

async function restartOnExit(
  current: { child: TiedProcess },
  description: ProcessDescription,
  run: DemoRun,
  stopping: () => boolean,
): Promise<void> {
  const { print } = run.narrator;
  const { signal } = run.request;
  let deaths: number[] = [];
  for (;;) {
    const exit = await current.child.exited;
    if (stopping() || signal.aborted) return;
    const now = performance.now();
    deaths = [...deaths.filter((death) => now - death < aMinute), now];
    const what = `${capital(description.name)} (process ${current.child.pid}) ended by itself: ${describe(exit)}.`;
    if (deaths.length === maxExits) {
      throw new Error(`${what} That was ${maxExits} times in a minute. Its log: ${current.child.logFile}`);
    }
    print(`${what} Starting it again.`, "bad");
    await delay(restartAfter, undefined, { signal });
    current.child = await launch(description, run);
    print(`${capital(description.name)} is back: process ${current.child.pid}.`, "good");
  }
}

async function launch(
  { name, file, main, environment, onLine }: ProcessDescription,
  { config, folder, request: { signal } }: DemoRun,
): Promise<TiedProcess> {
  let url: string | undefined;
  const child = await spawnTied({
    name,
    command: process.execPath,
    args: [repositoryPath(main)],
    env: config.processEnvironment({
      DROVER_LOG_LEVEL: config.logLevel,
      ...environment,
      DROVER_STOP_GRACE: grace.setting,
    }),
    logFile: join(folder.logs, `${file}.log`),
    onLine: (text) => {
      const line = parseLogLine(text);
      if (line === undefined) return;
      url ??= line.url;
      onLine(line);
    },
  });
  folder.noteProcess(file, child.pid);
  await waitUntilReady(child, async () => url !== undefined && (await isServerReady(url)), {
    signal,
  });
  return child;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const describe = ({ code, signal }: Exit): string => signal ?? `exit code ${String(code)}`;
