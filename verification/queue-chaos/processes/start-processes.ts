import { spawnTied, type TiedProcess } from "@drover/local-servers";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EventLog } from "../../harness/event-log.ts";
import { compiled, startProcess } from "../../harness/start-process.ts";
import type { Observation } from "../oracle/facts.ts";

/** The processes of a schedule. A process that dies is started again at once, as Kubernetes would. */
export interface Processes {
  readonly workers: readonly string[];
  readonly producers: readonly string[];
  /** Sends a signal to whatever goes by this name now. */
  signal(name: string, signal: "SIGKILL" | "SIGSTOP" | "SIGCONT" | "SIGTERM"): void;
  /** Stops all with SIGTERM, and restarts none. Resolves with the names of those that had to be killed. */
  stop(patience: number): Promise<readonly string[]>;
}

/** One that crashes again and again must not take the machine with it. */
const crashBackoff = 300;

/**
 * Has the modules of all processes compiled, once: where that is not so, every process writes it down as it ends, and a
 * dozen at once take longer for that than any may take to stop.
 */
export async function compileOnce(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "drover-chaos-"));
  const child = await spawnTied({
    name: "what compiles",
    command: process.execPath,
    args: ["--input-type=module", "--eval", `await import("@drover/queue")`],
    cwd: import.meta.dirname,
    env: compiled,
    logFile: join(folder, "log"),
  });
  await child.exited;
  await rm(folder, { recursive: true });
}

export async function startProcesses(options: {
  readonly log: EventLog<Observation>;
  readonly port: () => number;
  readonly workers: number;
  readonly producers: number;
  /** Holds one log per process. */
  readonly folder: string;
}): Promise<Processes> {
  const { log, folder } = options;
  const named = (kind: string, count: number) => Array.from({ length: count }, (_, i) => `${kind}-${i}`);
  const workers = named("worker", options.workers);
  const producers = named("producer", options.producers);
  const living = new Map<string, TiedProcess>();
  const signalled = new Set<TiedProcess>();
  let stopping = false;

  const live = async (name: string): Promise<void> => {
    const kind = name.split("-")[0] ?? "";
    const child = await startProcess({
      name,
      main: join(import.meta.dirname, `${kind}-process.ts`),
      args: [String(options.port()), name],
      logFile: join(folder, `${name}.log`),
    });
    living.set(name, child);
    const born = log.facts.length;
    const isUp = (): boolean =>
      log.facts.slice(born).some((fact) => fact.fact === "up" && fact.process === name);
    void child.exited.then(({ code, signal }) => {
      // Only this suite and the process itself kill it, both by the schedule. A SIGTERM before a process is up ends it
      // at once.
      const ended = code === 0 || (signal === "SIGTERM" && !isUp());
      const wanted = signal === "SIGKILL" || (ended && signalled.has(child));
      log.note({ fact: "exited", process: name, wanted, how: signal ?? `exit code ${String(code)}` });
      living.delete(name);
      if (!stopping) setTimeout(() => !stopping && void live(name), wanted ? 0 : crashBackoff);
    });
  };
  const signal: Processes["signal"] = (name, signal) => {
    const child = living.get(name);
    if (child === undefined) return;
    // A second SIGTERM is for the impatient, and ends a process at once.
    if (signal === "SIGTERM" && signalled.has(child)) return;
    if (signal === "SIGTERM") signalled.add(child);
    child.kill(signal);
  };

  await Promise.all([...workers, ...producers].map(live));
  return {
    workers,
    producers,
    signal,
    async stop(patience) {
      stopping = true;
      const late: string[] = [];
      const stop = async (name: string, child: TiedProcess): Promise<void> => {
        signalled.add(child);
        const { signal } = await child.stop({ graceMs: patience });
        if (signal === "SIGKILL") late.push(name);
      };
      while (living.size > 0) {
        await Promise.all([...living].map(([name, child]) => stop(name, child)));
      }
      return late;
    },
  };
}
