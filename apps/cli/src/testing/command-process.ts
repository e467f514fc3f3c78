// A process that runs one command after the other, each as if the process were new: with an environment of its own, and
// until nothing keeps the process alive any more. Modules stay loaded, which is most of what a start costs.
import { z } from "zod";
import { runDrover } from "../run-drover.ts";
import { replaceEnvironment } from "./config.ts";
import type { ProcessResult } from "./run-command.ts";

const commandSchema = z.object({
  words: z.array(z.string()),
  env: z.record(z.string(), z.string()),
});

/** Node's exit code of a process that ends while its main module still waits. */
const unsettled = 13;

const { channel } = process;
const output = { stdout: "", stderr: "" };
for (const name of ["stdout", "stderr"] as const)
  process[name].write = (chunk: string | Uint8Array, ...more: readonly unknown[]): boolean => {
    output[name] += Buffer.from(chunk).toString();
    const done = more.at(-1);
    if (typeof done === "function") process.nextTick(done);
    return true;
  };

process.on("message", (message) => {
  const { words, env } = commandSchema.parse(message);
  let code = unsettled;
  Object.assign(output, { stdout: "", stderr: "" });
  process.exitCode = undefined;
  replaceEnvironment(env);
  void runDrover(words).then((it) => (code = it));
  // The process would end now when the command has ended and leaves nothing behind.
  channel?.unref();
  process.once("beforeExit", () => {
    channel?.ref();
    process.stdout.removeAllListeners("error");
    process.send?.({ code, ...output, isLast: false } satisfies ProcessResult);
  });
});
// A command may end its process, as for a wrong option.
process.on("exit", (code) => process.send?.({ code, ...output, isLast: true } satisfies ProcessResult));
process.on("disconnect", () => process.exit());
