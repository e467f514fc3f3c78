import { runGo } from "@drover/local-servers";
import { fileURLToPath } from "node:url";

const moduleFolder = fileURLToPath(new URL("../go", import.meta.url));

/**
 * Asks client-go: compiles the Go program and answers what it prints, the text of scenarios.json.
 *
 * The first time takes some seconds, and Go's module proxy where client-go is not in Go's module cache yet.
 *
 * @throws when Go is missing or the program fails: the message has its output
 */
export function printScenarios({ signal }: { signal?: AbortSignal } = {}): Promise<string> {
  const args = ["run", "-mod=readonly", "-trimpath", "-buildvcs=false", "."];
  return runGo(args, { cwd: moduleFolder, purpose: "client-go is asked by a Go program", signal });
}
