import { Command, InvalidArgumentError, Option } from "commander";
import { z } from "zod";
import { existingFile } from "../cluster-options.ts";
import { redisUrl } from "../redis-option.ts";

const optionsSchema = z.object({
  run: z.string().optional(),
  example: z.array(z.string()).default([]),
  port: z.int().default(0),
  redis: z.string().optional(),
  kubeconfig: z.string().optional(),
  context: z.string().optional(),
  namespace: z.array(z.string()).default([]),
  object: z.array(z.string()).default([]),
});

export const devCommand = (): Command =>
  new Command("dev")
    .summary("run a function on this machine while you write it")
    .description(
      "Run the function of this folder on an API server and a Redis of its own, until Ctrl-C. The function is started " +
        "again when a file of the folder changes, with its CRD and its settings as the code has them then, and runs for all " +
        "objects. The objects of example*.yaml and examples/ are applied, and again when such a file changes. Each run is a " +
        "line: what ended how, why it ran, what it wrote in the cluster, and when it runs next.\n\n" +
        "All servers listen on 127.0.0.1 only. They begin empty, and nothing of them is kept. Requests need no permission on " +
        "this API server: drover test checks those.\n\n" +
        "With --kubeconfig it runs for objects of that cluster, with the rights of the kubeconfig, and with a bridge and a " +
        "Redis on this machine. These objects get the label drover.dev/dev, and the deployed function leaves them alone until " +
        "the end. Neither the kind nor a ReconcileFunction is applied. Fields of the kind that the cluster's CRD lacks are " +
        "printed.",
    )
    .option(
      "--run <command>",
      'the command line that runs the function; default: the script "start" of package.json, "python3 function.py" or "go run ."',
    )
    .option(
      "--example <path>",
      "a file or folder of objects to apply, in place of those of the folder; may be repeated; with --kubeconfig only " +
        "these are applied",
      repeated,
    )
    .option("--kubeconfig <file>", "run for objects of the cluster of this kubeconfig", existingFile)
    .option("--context <name>", "context of that kubeconfig; default: its current one")
    .option(
      "--object <name>",
      "an object of that cluster to run, as NAME or NAMESPACE/NAME; may be repeated",
      repeated,
    )
    .option(
      "-n, --namespace <name>",
      "look for objects in this namespace only; may be repeated; default: in those of the function",
      (name: string, others: readonly string[] | undefined) => repeated(namespaceName(name), others),
    )
    .option("--port <number>", "the port of the API server; default: a free one", portNumber)
    .addOption(
      new Option(
        "--redis <url>",
        "use this Redis or Valkey (7.0 or newer); default: starts the valkey-server or redis-server of this machine",
      ).argParser(redisUrl),
    )
    .allowExcessArguments(false)
    .action(async (given: unknown, command: Command) => {
      const options = optionsSchema.parse(given);
      const { example: examples, run, port, redis, kubeconfig, context } = options;
      const { namespace: namespaces, object: objects } = options;
      const problem = optionProblem(options);
      if (problem !== undefined) command.error(`error: ${problem}`);
      const { startDev } = await import("./start-dev.ts");
      const choice = kubeconfig === undefined ? undefined : { kubeconfig, context, namespaces, objects };
      await startDev({ folder: process.cwd(), examples, run, port, redis, cluster: choice });
    });

const repeated = (one: string, others: readonly string[] | undefined): readonly string[] => [
  ...(others ?? []),
  one,
];

function namespaceName(text: string): string {
  if (/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text)) return text;
  throw new InvalidArgumentError("Give the name of a namespace.");
}

/** Options that belong to a cluster, without one; and the port of an API server that is not started. */
function optionProblem({
  kubeconfig,
  context,
  namespace,
  object,
  port,
}: z.output<typeof optionsSchema>): string | undefined {
  if (kubeconfig !== undefined)
    return port === 0 ? undefined : "--port is for the API server that dev starts without --kubeconfig.";
  if (context === undefined && namespace.length === 0 && object.length === 0) return undefined;
  return "--context, --namespace and --object are for a cluster: give --kubeconfig too.";
}

function portNumber(text: string): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number <= 65_535) return number;
  throw new InvalidArgumentError("Give a number from 0 to 65535.");
}
