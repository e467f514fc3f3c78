import { Command, InvalidArgumentError, Option } from "commander";
import { z } from "zod";
import { redisUrl } from "../redis-option.ts";

const optionsSchema = z.object({
  run: z.string().optional(),
  example: z.array(z.string()).default([]),
  port: z.int().default(0),
  redis: z.string().optional(),
});

export const devCommand = (): Command =>
  new Command("dev")
    .summary("run a function on this machine while you write it")
    .description(
      "Run the function of this folder on an API server and a Redis of its own, until Ctrl-C. The function is started\n" +
        "again when a file of the folder changes, with its CRD and its settings as the code has them then, and runs for all\n" +
        "objects. The objects of example*.yaml and examples/ are applied, and again when such a file changes. Each run is a\n" +
        "line: what ended how, why it ran, what it wrote in the cluster, and when it runs next.\n\n" +
        "All servers listen on 127.0.0.1 only. They begin empty, and nothing of them is kept. Requests need no permission on\n" +
        "this API server: drover test checks those.",
    )
    .option(
      "--run <command>",
      'the command line that runs the function; default: the script "start" of package.json, "python3 function.py" or "go run ."',
    )
    .option(
      "--example <path>",
      "a file or folder of objects to apply, in place of those of the folder; may be repeated",
      (path: string, others: readonly string[] | undefined) => [...(others ?? []), path],
    )
    .option("--port <number>", "the port of the API server; default: a free one", portNumber)
    .addOption(
      new Option(
        "--redis <url>",
        "use this Redis or Valkey (7.0 or newer); default: starts the valkey-server or redis-server of this machine",
      ).argParser(redisUrl),
    )
    .allowExcessArguments(false)
    .action(async (given: unknown) => {
      const { example: examples, run, port, redis } = optionsSchema.parse(given);
      const { startDev } = await import("./start-dev.ts");
      await startDev({ folder: process.cwd(), examples, run, port, redis });
    });

function portNumber(text: string): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number <= 65_535) return number;
  throw new InvalidArgumentError("Give a number from 0 to 65535.");
}
