import { parseRedisUrl, UnfitRedisError } from "@drover/queue";
import { Command, InvalidArgumentError, Option } from "commander";
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { demoConfig } from "./config.ts";
import { demoOptions } from "./demo-run.ts";
import { repositoryPath } from "./repository-path.ts";
import { startDemo } from "./start.ts";

/** The command that `npm start` runs. */
export function demoCommand(): Command {
  return new Command("npm start --")
    .description(
      "Start a demo in which a Bucket object becomes a bucket, and report what happens, until Ctrl-C.\n" +
        "Servers that you do not give are started on this machine, for this run only.",
    )
    .option("--kubeconfig <file>", "use this cluster", existingFile)
    .option("--context <name>", "context of that kubeconfig; default: its current one")
    .option(
      "--redis <url>",
      "use this Redis or Valkey (7.0 or newer); for a cluster, its nodes with commas between",
    )
    .option("--s3 <url>", "use this S3 server, with the AWS credentials of the environment", httpUrl)
    .option("--s3-region <region>", "region of buckets that name none; with --s3", "us-east-1")
    .addOption(
      new Option("--dir <folder>", "where data, logs and the kubeconfig are kept")
        .argParser((path) => resolve(path))
        .default(repositoryPath(".run"), ".run in the repository"),
    )
    .allowExcessArguments(false)
    .action(async (given, command: Command) => {
      const options = demoOptions.parse(given);
      if (options.context !== undefined && options.kubeconfig === undefined) {
        command.error("error: --context names a context of a kubeconfig: give --kubeconfig too.");
      }
      const problem = redisProblem(options.redis);
      if (problem !== undefined) command.error(`error: --redis cannot be used: ${problem}`);
      process.exitCode = await startDemo(options, demoConfig());
    });
}

function existingFile(path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === true) return resolve(path);
  throw new InvalidArgumentError("There is no such file. Give the path of a kubeconfig.");
}

/** The message does not contain the URL, which may have a password, as the message of an InvalidArgumentError would. */
function redisProblem(url: string | undefined): string | undefined {
  try {
    if (url !== undefined) parseRedisUrl(url);
    return undefined;
  } catch (error) {
    if (error instanceof UnfitRedisError) return error.message;
    throw error;
  }
}

function httpUrl(text: string): string {
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return text.replace(/\/+$/, "");
  throw new InvalidArgumentError("Give a URL such as http://127.0.0.1:9000.");
}
