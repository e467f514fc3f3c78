import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const moduleFolder = fileURLToPath(new URL("../go", import.meta.url));

/**
 * Asks client-go: compiles the Go program and answers what it prints, the text of scenarios.json.
 *
 * The first time takes some seconds, and Go's module proxy where client-go is not in Go's module cache yet.
 *
 * @throws when Go is missing or the program fails: the message has its output
 */
export async function printScenarios({ signal }: { signal?: AbortSignal } = {}): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(
      "go",
      ["run", "-mod=readonly", "-trimpath", "-buildvcs=false", "."],
      {
        cwd: moduleFolder,
        env: { ...process.env, CGO_ENABLED: "0", GOWORK: "off" },
        ...(signal === undefined ? {} : { signal }),
      },
    );
    return stdout;
  } catch (cause) {
    if (!(cause instanceof Error && "code" in cause && cause.code === "ENOENT")) throw cause;
    const message =
      "Go is missing: client-go is asked by a Go program. Install it from https://go.dev/dl and put it on the PATH; " +
      "any version from 1.21 on fetches the one that is needed.";
    throw new Error(message, { cause });
  }
}
