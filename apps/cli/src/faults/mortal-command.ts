import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import type { Environment } from "../config.ts";
import { CommandError } from "../command-error.ts";

/** A command that is started again after each of its deaths. */
export interface MortalCommand {
  /** SIGKILL, to it and all that it has started; a new one comes up once it is gone. */
  die(): void;
  /** Passes a signal on; no new one comes up from then on. */
  end(signal: NodeJS.Signals): void;
  /** Resolves with its exit code when it ends otherwise. As in a shell, a signal counts 128 more than its number. */
  readonly ended: Promise<number>;
}

export function mortalCommand(options: {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Environment;
  /** Called when one is gone and before the next one is started. */
  readonly onDeath: () => void;
}): MortalCommand {
  const { command, args, env, onDeath } = options;
  let child: ChildProcess;
  let isDying = false;
  let isEnding = false;
  const signal = (name: NodeJS.Signals): void => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    // A group of its own: what a shell has started dies with it.
    process.kill(-child.pid, name);
  };
  const born = (): ChildProcess => spawn(command, args, { env, stdio: "inherit", detached: true });
  const live = async (): Promise<number> => {
    for (child = born(); ; child = born()) {
      const code = await endOf(child, command);
      if (!isDying || isEnding) return code;
      isDying = false;
      onDeath();
    }
  };
  return {
    die() {
      isDying = true;
      signal("SIGKILL");
    },
    end(name) {
      isEnding = true;
      signal(name);
    },
    ended: live(),
  };
}

const endOf = (child: ChildProcess, command: string): Promise<number> =>
  new Promise((resolve, reject) => {
    child.once("error", ({ message }) => reject(new CommandError(`${command} cannot be run: ${message}`)));
    child.once("exit", (code, signal) =>
      resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])),
    );
  });
