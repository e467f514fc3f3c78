import { spawnTied, type TiedProcess, type TiedProcessOptions } from "@drover/local-servers";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";

/** A program in the namespaces of a cluster ended with a failure. The message has what it wrote to standard error. */
export class FailedInsideError extends Error {
  override readonly name = "FailedInsideError";
}

export interface ExecOptions {
  /** Standard input of the program. */
  readonly input?: string;
  /** Laid over this process's environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Ways into the mount, network and process namespaces of a process. Programs start in the folder `/`. */
export interface Entrance {
  /** Runs a program to its end and answers its standard output. @throws FailedInsideError */
  exec(command: readonly string[], options?: ExecOptions): Promise<string>;
  /** Starts a process inside that dies with this one, with the namespaces, or when it is stopped. */
  spawn(options: Omit<TiedProcessOptions, "cwd" | "detached">): Promise<TiedProcess>;
}

export function entranceTo(pid: number): Entrance {
  const prefix = ["--target", String(pid), "--mount", "--net", "--pid", "--"];
  return {
    exec: (command, { input = "", env = {} } = {}) =>
      new Promise((resolve, reject) => {
        const options = { env: { ...process.env, ...env }, maxBuffer: 2 ** 26 };
        const child = execFile("nsenter", [...prefix, ...command], options, (error, stdout, stderr) => {
          if (error === null) resolve(stdout);
          else
            reject(
              new FailedInsideError(`${command.join(" ")} failed:\n${stderr.trimEnd()}`, { cause: error }),
            );
        });
        child.stdin?.on("error", () => undefined).end(input);
      }),
    async spawn({ command, args = [], ...options }) {
      const nsenter = await spawnTied({
        ...options,
        command: "nsenter",
        args: [...prefix, command, ...args],
      });
      return viaChild(nsenter);
    },
  };
}

/**
 * nsenter waits for the program, which is its child, and keeps signals to itself: they are sent on. When nsenter is
 * gone, `spawnTied` kills what is left of its group.
 */
function viaChild(nsenter: TiedProcess): TiedProcess {
  const kill = (signal: NodeJS.Signals) => {
    const [child] = childrenOf(nsenter.pid);
    return child === undefined ? nsenter.kill(signal) : process.kill(child, signal);
  };
  return {
    ...nsenter,
    kill,
    async stop({ graceMs = 5000 } = {}) {
      const running = childrenOf(nsenter.pid).length > 0;
      if (running) {
        kill("SIGTERM");
        kill("SIGCONT");
      }
      const timer = setTimeout(() => nsenter.kill("SIGKILL"), running ? graceMs : 0);
      return nsenter.exited.finally(() => clearTimeout(timer));
    },
  };
}

/** The children of a process's first thread. None when it is gone. */
export function childrenOf(pid: number): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}
