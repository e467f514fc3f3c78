import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { CommandError } from "../command-error.ts";
import { functionModule } from "../generate/load-function.ts";

/** The folder of a function, and how the function runs there. */
export interface FunctionFolder {
  readonly path: string;
  /** True for a function that is called over HTTP: its manifests are in deploy/. Others are generated from the code. */
  readonly isCalled: boolean;
  /** The command line that runs it. */
  readonly command: string;
}

/** The commands of functions that `drover init` makes, by a file that they have. */
const calledCommands: readonly (readonly [file: string, command: string])[] = [
  ["function.py", "python3 function.py"],
  ["go.mod", "go run ."],
];

/**
 * @param run the command line, in place of the one that the folder shows.
 * @throws CommandError if it is not the folder of a function, or shows no command.
 */
export function functionFolder(path: string, run: string | undefined): FunctionFolder {
  if (existsSync(join(path, functionModule)))
    return { path, isCalled: false, command: run ?? startScript(path) };
  if (!existsSync(join(path, "deploy")))
    throw new CommandError(
      `${path} is not the folder of a function: it has neither ${functionModule} nor deploy/. Make a function with ` +
        "`drover init greetings`, and run this in its folder.",
    );
  const command = run ?? calledCommands.find(([file]) => existsSync(join(path, file)))?.[1];
  if (command !== undefined) return { path, isCalled: true, command };
  throw new CommandError('Give the command that runs the function, such as --run "./function".');
}

const manifestSchema = z.looseObject({ scripts: z.looseObject({ start: z.string() }) });

function startScript(path: string): string {
  try {
    return manifestSchema.parse(JSON.parse(readFileSync(join(path, "package.json"), "utf8"))).scripts.start;
  } catch (cause) {
    throw new CommandError(
      'package.json has no script "start". Add it, or give the command that runs the function: --run "node src/main.ts"',
      { cause },
    );
  }
}

/** Files that the function does not run: a change of them does not restart it. */
const notRun =
  /(\.md|\.(test|faults)\.ts|(^|\/)test_[^/]*\.py|_test\.go|\.faults\.ya?ml|(^|\/)(Dockerfile|tsconfig\.json))$/;

/** True if the function must be started again after a change of this file, which is not one of its examples. */
export const isRun = ({ isCalled }: FunctionFolder, file: string): boolean =>
  !notRun.test(file) && (isCalled || !file.startsWith("deploy/"));
