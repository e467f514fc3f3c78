import { Command, InvalidArgumentError, Option } from "commander";
import { resolve } from "node:path";
import { z } from "zod";
import { cliConfig } from "./config.ts";
import { existingFile } from "./cluster-options.ts";
import { deployCommand } from "./deploy/deploy-command.ts";
import { faultsCommand } from "./faults/faults-command.ts";
import { generateCommand } from "./generate/generate-command.ts";
import { initCommand } from "./init/init-command.ts";
import { historyCommand } from "./operate/history-command.ts";
import { listCommand } from "./operate/list-command.ts";
import { pauseCommand, resumeCommand } from "./operate/pause-command.ts";
import { retryCommand } from "./operate/retry-command.ts";
import { redisUrl } from "./redis-option.ts";
import { repositoryPath } from "./repository-path.ts";
import { startDemo } from "./start/start.ts";
import { statusCommand } from "./status/status-command.ts";
import { testCommand } from "./test/test-command.ts";
import { whyCommand } from "./why/why-command.ts";

/** The `drover` command. For an unknown option or command, the error suggests the most similar one. */
export function droverCommand(): Command {
  const program = new Command("drover").description("Serverless controllers for Kubernetes");
  const commands = [
    ...[startCommand, initCommand, testCommand, faultsCommand, generateCommand, deployCommand],
    ...[statusCommand, whyCommand, listCommand, historyCommand],
    ...[retryCommand, pauseCommand, resumeCommand],
  ];
  for (const command of commands) program.addCommand(command());
  return program.showHelpAfterError("(--help lists commands and options)");
}

const startOptions = z.object({
  kubeconfig: z.string().optional(),
  context: z.string().optional(),
  redis: z.string().optional(),
  s3: z.string().optional(),
  s3Region: z.string(),
  dir: z.string(),
});

function startCommand(): Command {
  return new Command("start")
    .summary("start a demo: a Bucket object becomes a bucket")
    .description(
      "Start a demo in which a Bucket object becomes a bucket, and report what happens, until Ctrl-C.\n" +
        "Servers that you do not give are started on this machine, for this run only.",
    )
    .addOption(new Option("--kubeconfig <file>", "use this cluster").argParser(existingFile))
    .addOption(new Option("--context <name>", "context of that kubeconfig; default: its current one"))
    .addOption(
      new Option(
        "--redis <url>",
        "use this Redis or Valkey (7.0 or newer); for a cluster, its nodes with commas between",
      ).argParser(redisUrl),
    )
    .addOption(
      new Option("--s3 <url>", "use this S3 server, with the AWS credentials of the environment").argParser(
        httpUrl,
      ),
    )
    .addOption(
      new Option("--s3-region <region>", "region of buckets that name none; with --s3").default("us-east-1"),
    )
    .addOption(
      new Option("--dir <folder>", "where data, logs and the kubeconfig are kept")
        .argParser((path) => resolve(path))
        .default(repositoryPath(".run"), ".run in the repository"),
    )
    .allowExcessArguments(false)
    .action(async (given, command: Command) => {
      const options = startOptions.parse(given);
      if (options.context !== undefined && options.kubeconfig === undefined) {
        command.error("error: --context names a context of a kubeconfig: give --kubeconfig too.");
      }
      process.exitCode = await startDemo(options, cliConfig());
    });
}

function httpUrl(text: string): string {
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return text.replace(/\/+$/, "");
  throw new InvalidArgumentError("Give a URL such as http://127.0.0.1:9000.");
}
