import { spawnTied, type TiedProcess } from "@drover/local-servers";
import { join } from "node:path";
import type { Journal } from "./journal.ts";

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

const root = join(import.meta.dirname, "../..");
const compiled = join(root, ".cache/compiled");
/** The bridge of this repository. */
export const ourBridge = join(root, "apps/bridge/src/main.ts");

export function bridgeProcess(options: {
  readonly journal: Journal;
  /** Its main file. */
  readonly program: string;
  /** For its logs. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** Called for each new life, before it begins. */
  readonly onStart: () => void;
}): Bridge {
  const { journal, program, folder, env, onStart } = options;
  let child: TiedProcess | undefined;
  let lives = 0;
  const wanted = new Set<TiedProcess>();
  return {
    isRunning: () => child !== undefined,
    async start() {
      if (child !== undefined) return;
      onStart();
      const name = `bridge-${lives++}`;
      const born = await spawnTied({
        name,
        command: process.execPath,
        args: [program],
        logFile: join(folder, `${name}.log`),
        env: {
          NODE_COMPILE_CACHE: compiled,
          DROVER_TEST_CLUSTER: undefined,
          DROVER_KUBECTL: undefined,
          ...env,
        },
      });
      child = born;
      journal.note({ fact: "bridge", what: "started", how: name });
      void born.exited.then(({ code, signal }) => {
        if (child === born) child = undefined;
        const what = wanted.has(born) ? "killed" : "ended";
        journal.note({ fact: "bridge", what, how: `${name}: ${signal ?? `exit code ${String(code)}`}` });
      });
    },
    async kill() {
      const dying = child;
      if (dying === undefined) return;
      wanted.add(dying);
      dying.kill("SIGKILL");
      await dying.exited;
    },
    async stop(patience) {
      if (child === undefined) return true;
      wanted.add(child);
      const { signal } = await child.stop({ graceMs: patience });
      return signal !== "SIGKILL";
    },
  };
}
