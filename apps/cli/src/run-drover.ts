import { errorText, messageOf } from "@drover/controller";
import { CommandError } from "./command-error.ts";
import { droverCommand } from "./drover-command.ts";

/**
 * Runs the `drover` command with these arguments. An error is printed as one message on stderr; only an unexpected one
 * has a stack.
 *
 * @returns the exit code.
 */
export async function runDrover(words: readonly string[]): Promise<number> {
  try {
    await droverCommand().parseAsync(words, { from: "user" });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    const { fileProblem } = await import("@drover/runtime");
    const message = fileProblem(error) ?? (isExpected(error) ? messageOf(error) : undefined);
    console.error(message === undefined ? errorText(error) : `error: ${message}`);
    return 1;
  }
}

/** Drover's own error classes have a message with a remedy. The language's error classes indicate a bug. */
const isExpected = (error: unknown): error is Error =>
  error instanceof CommandError ||
  (error instanceof Error && !["TypeError", "ReferenceError", "RangeError", "Error"].includes(error.name));
