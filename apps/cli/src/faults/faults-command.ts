import { Command, InvalidArgumentError, Option } from "commander";
import { z } from "zod";
import { contextOption, existingFile, kubeconfigOption, resolveKubeconfig } from "../cluster-options.ts";
import { CommandError } from "../command-error.ts";

const optionsSchema = z.object({
  plan: z.string().optional(),
  seed: z.number().optional(),
  rate: z.number().optional(),
  kubeconfig: z.string().optional(),
  context: z.string().optional(),
  port: z.number(),
  view: z.record(z.string(), z.string()),
  writeKubeconfig: z.string().optional(),
  record: z.string().optional(),
});

export const faultsCommand = (): Command =>
  new Command("faults")
    .summary("run a command against a cluster with injected faults")
    .description(
      "Start a proxy in front of a cluster's API server that injects the faults of a plan or a seed. COMMAND gets its " +
        "kubeconfig by KUBECONFIG (and DROVER_KUBECONFIG); without COMMAND the proxy runs until Ctrl-C. Every call and its " +
        "outcome are logged. Exits with COMMAND's code, or with 1 if a rule of the plan matched nothing.",
    )
    .argument("[command...]", "after --: the command to run; if a fault kills it, it is started again")
    .addOption(
      new Option("--plan <file>", "the faults to inject (YAML or JSON; docs/fault-proxy.md)").argParser(
        existingPlan,
      ),
    )
    .addOption(
      new Option("--seed <number>", "choose faults at random; the same seed chooses the same ones").argParser(
        wholeNumber,
      ),
    )
    .addOption(
      new Option(
        "--rate <share>",
        "share of calls and events that get a fault, with --seed; default: 0.1",
      ).argParser(share),
    )
    .addOption(kubeconfigOption())
    .addOption(contextOption())
    .addOption(
      new Option("--port <number>", "port on 127.0.0.1").argParser(wholeNumber).default(0, "a free one"),
    )
    .addOption(
      new Option("--view <name=kubeconfig>", "another server, for the fault `stale`; may be given again")
        .argParser(view)
        .default({}, "none"),
    )
    .option("--write-kubeconfig <file>", "write the kubeconfig of the proxy to this file")
    .option("--record <file>", "write all calls to this file, as JSON")
    .allowExcessArguments(false)
    .action(async (command: readonly string[], given: unknown) => {
      const { plan: file, seed, rate, ...options } = optionsSchema.parse(given);
      const { readPlan } = await import("./read-plan.ts");
      const plan = readPlan({ file, seed, rate });
      const [{ runWithFaults }, kubeconfig] = await Promise.all([
        import("./run-with-faults.ts"),
        resolveKubeconfig(options),
      ]);
      process.exitCode = await runWithFaults({ ...options, kubeconfig, plan, command });
    });

function existingPlan(path: string): string {
  try {
    return existingFile(path);
  } catch {
    throw new InvalidArgumentError("There is no such file. Give the path of a plan.");
  }
}

function wholeNumber(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Give a whole number.");
}

function share(text: string): number {
  const number = Number(text);
  if (text.trim() !== "" && number >= 0 && number <= 1) return number;
  throw new InvalidArgumentError("Give a number from 0 to 1, such as 0.1.");
}

function view(text: string, others: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const [, name, path] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (name === undefined || path === undefined)
    throw new CommandError(`--view ${text} names no file. Write: --view NAME=KUBECONFIG`);
  return { ...others, [name]: existingFile(path) };
}
