import { type ChildProcess, spawn, type StdioOptions } from "node:child_process";
import { constants } from "node:os";
import type { EnvironmentVariables } from "../config.ts";
import { CommandError } from "../command-error.ts";

/** A command that is started again each time a fault kills it. */
export interface RestartedCommand {
  /** Sends SIGKILL to its process group. A new process is started once the old one has exited. */
  kill(): void;
  /** Passes a signal on. From then on, no new process is started. */
  terminate(signal: NodeJS.Signals): void;
  /** Resolves with the exit code when the command ends by itself. As in a shell, a signal gives 128 plus its number. */
  readonly ended: Promise<number>;
}

export function runRestarted(options: {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: EnvironmentVariables;
  /** Default: those of this process. */
  readonly stdio?: StdioOptions;
  /** Called after a killed process has exited. The next one is started when it has returned. */
  readonly onDeath: () => void | Promise<void>;
}): RestartedCommand {
  const { command, args, env, stdio = "inherit", onDeath } = options;
  let child: ChildProcess;
  let isDying = false;
  let isEnding = false;
  const signal = (name: NodeJS.Signals): void => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    // Signal the process group, so that processes started by a shell die with it.
    process.kill(-child.pid, name);
  };
  const born = (): ChildProcess => spawn(command, args, { env, stdio, detached: true });
  const live = async (): Promise<number> => {
    for (child = born(); ; child = born()) {
      const code = await endOf(child, command);
      endGroup(child);
      if (isDying) await onDeath();
      if (!isDying || isEnding) return code;
      isDying = false;
    }
  };
  return {
    kill() {
      isDying = true;
      signal("SIGKILL");
    },
    terminate(name) {
      isEnding = true;
      signal(name);
    },
    ended: live(),
  };
}

/** Ends what a command that has exited by itself has left in its process group. */
function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // Nothing is left.
  }
}

const endOf = (child: ChildProcess, command: string): Promise<number> =>
  new Promise((resolve, reject) => {
    child.once("error", ({ message }) => reject(new CommandError(`${command} cannot be run: ${message}`)));
    child.once("exit", (code, signal) =>
      resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])),
    );
  });
