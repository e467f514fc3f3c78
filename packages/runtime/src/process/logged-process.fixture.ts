import { execFile } from "node:child_process";

/** The exit code of a process, and the lines of its log. */
export interface LoggedProcess {
  readonly code: unknown;
  readonly logged: readonly unknown[];
  /** Standard output and standard error. */
  readonly text: string;
}

/** The URL of this folder, for imports of a module. */
export const here = new URL(".", import.meta.url).href;

/** Runs a module in a separate process, to its end. */
export const loggedProcess = (module: string): Promise<LoggedProcess> =>
  new Promise((resolve) => {
    execFile(process.execPath, ["--input-type=module", "-e", module], (error, stdout, stderr) => {
      const lines = stdout.split("\n").filter((line) => line !== "");
      const logged = lines.map((line) => JSON.parse(line) as unknown);
      resolve({ code: error === null ? 0 : error.code, logged, text: stdout + stderr });
    });
  });
