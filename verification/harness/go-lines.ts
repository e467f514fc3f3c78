import { runGo } from "@drover/local-servers";

/** Runs the Go program of a folder with these lines as its input. Returns the lines of its output. */
export async function goLines(cwd: string, lines: readonly string[]): Promise<readonly string[]> {
  const input = lines.map((one) => `${one}\n`).join("");
  const purpose = "Drover is compared with a Go program";
  return (await runGo(["run", "-mod=readonly", "."], { cwd, purpose, input })).trimEnd().split("\n");
}
