import { cliConfig } from "../config.ts";
import type { Run } from "./run.ts";
import { takeRunFolder } from "./run-folder.ts";
import { stopRequest } from "./stop-request.ts";

/** A run in a folder, and what it says. */
export function runIn(path: string): { readonly run: Run; readonly said: string[] } {
  const said: string[] = [];
  const run: Run = {
    options: { s3Region: "r", dir: path },
    config: cliConfig(),
    folder: takeRunFolder(path),
    narrator: { say: (text) => void said.push(text), show: () => undefined },
    request: stopRequest(),
    opened: [],
  };
  return { run, said };
}
