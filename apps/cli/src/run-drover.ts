import { errorText, messageOf } from "@drover/controller";
import { CommandError } from "./command-error.ts";
import { droverCommand } from "./drover-command.ts";
import { fileProblem } from "./file-problem.ts";

/**
 * The `drover` command, with the words that follow it. What is wrong is said in one message on stderr; only what nobody
 * has foreseen comes with a stack.
 *
 * @returns the exit code.
 */
export async function runDrover(words: readonly string[]): Promise<number> {
  try {
    await droverCommand().parseAsync(words, { from: "user" });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    const said = fileProblem(error) ?? (isForeseen(error) ? messageOf(error) : undefined);
    console.error(said === undefined ? errorText(error) : `error: ${said}`);
    return 1;
  }
}

/** Errors of ours have a message that says what to do; those of the language are faults. */
const isForeseen = (error: unknown): error is Error =>
  error instanceof CommandError ||
  (error instanceof Error && !["TypeError", "ReferenceError", "RangeError", "Error"].includes(error.name));
