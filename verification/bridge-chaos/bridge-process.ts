import type { TiedProcess } from "@drover/local-servers";
import { join } from "node:path";
import { crash, startProcess } from "../harness/start-process.ts";
import type { EventLog } from "../harness/event-log.ts";
import type { Observation } from "./oracle/facts.ts";

/** The bridge of a schedule: one process after the other. */
export interface Bridge {
  isRunning(): boolean;
  /** Starts one where none runs. */
  start(): Promise<void>;
  /** SIGKILL. Resolves when it is gone. */
  kill(): Promise<void>;
  /** SIGTERM; false when it did not stop within `patience` ms, and was killed. */
  stop(patience: number): Promise<boolean>;
}

/** The bridge of this repository. */
export const ourBridge = "apps/bridge/src/main.ts";

export function bridgeProcess(options: {
  readonly log: EventLog<Observation>;
  /** Its main file. */
  readonly program: string;
  /** For its logs. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** Called for each new life, before it begins. */
  readonly onStart: () => void;
}): Bridge {
  const { log, program, folder, env, onStart } = options;
  let child: TiedProcess | undefined;
  let lives = 0;
  const wanted = new Set<TiedProcess>();
  return {
    isRunning: () => child !== undefined,
    async start() {
      if (child !== undefined) return;
      onStart();
      const name = `bridge-${lives++}`;
      const born = await startProcess({
        name,
        main: program,
        logFile: join(folder, `${name}.log`),
        env,
      });
      child = born;
      log.note({ fact: "bridge", what: "started", how: name });
      void born.exited.then(({ code, signal }) => {
        if (child === born) child = undefined;
        const what = wanted.has(born) ? "killed" : "ended";
        log.note({ fact: "bridge", what, how: `${name}: ${signal ?? `exit code ${String(code)}`}` });
      });
    },
    async kill() {
      if (child === undefined) return;
      wanted.add(child);
      await crash(child);
    },
    async stop(patience) {
      if (child === undefined) return true;
      wanted.add(child);
      const { signal } = await child.stop({ graceMs: patience });
      return signal !== "SIGKILL";
    },
  };
}
