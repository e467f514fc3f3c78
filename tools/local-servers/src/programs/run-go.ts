import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** Builds need no C compiler, and take no workspace around the module into account. */
export const goEnvironment = { CGO_ENABLED: "0", GOWORK: "off" };

/** Bytes of output that a program may write. */
const mostOutput = 1e9;

export interface RunGoOptions {
  /** The folder of a module. */
  readonly cwd: string;
  /** The need for Go, for the error: as in `the real cluster is built from source`. */
  readonly purpose: string;
  /** The standard input of the program. */
  readonly input?: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs a go command to its end. Returns its output.
 *
 * @throws if Go is missing: the message names what to install
 */
export async function runGo(args: readonly string[], options: RunGoOptions): Promise<string> {
  const { cwd, purpose, input, signal } = options;
  try {
    const env = { ...process.env, ...goEnvironment };
    const running = promisify(execFile)("go", args, { cwd, env, signal, maxBuffer: mostOutput });
    running.child.stdin?.end(input);
    return (await running).stdout;
  } catch (cause) {
    if (!isAbsent(cause)) throw cause;
    const message =
      `Go is missing: ${purpose}. Install it from https://go.dev/dl and put it on the PATH; any version from 1.21 on ` +
      "fetches the one that is needed.";
    throw new Error(message, { cause });
  }
}

/** True for the error of a program that is not on PATH. */
export const isAbsent = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ENOENT";
