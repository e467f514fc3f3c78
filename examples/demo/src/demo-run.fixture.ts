import { demoConfig } from "./config.ts";
import type { DemoRun } from "./demo-run.ts";
import { lockRunFolder } from "./run-folder.ts";
import { stopRequest } from "./stop-request.ts";

/** A run in a folder, and the messages that it prints. */
export function runIn(path: string): { readonly run: DemoRun; readonly printed: string[] } {
  const printed: string[] = [];
  const run: DemoRun = {
    options: { s3Region: "r", dir: path },
    config: demoConfig(),
    folder: lockRunFolder(path),
    narrator: { print: (text) => void printed.push(text), printLines: () => undefined },
    request: stopRequest(),
    opened: [],
  };
  return { run, printed };
}
