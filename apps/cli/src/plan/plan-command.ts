import { Command, Option } from "commander";
import { resolve } from "node:path";
import { z } from "zod";
import { clusterOptionsSchema, withCluster, withClusterOptions } from "../cluster-options.ts";
import { functionModule, loadFunction } from "../generate/load-function.ts";
import { outputOption } from "../output-option.ts";
import { waitOption } from "../waiting/wait-option.ts";

const optionsSchema = clusterOptionsSchema.extend({
  file: z.string().optional(),
  all: z.boolean().default(false),
  module: z.string(),
  url: z.string().optional(),
  image: z.string().optional(),
  sendSecrets: z.boolean().default(false),
  wait: z.number(),
  dir: z.string(),
  secretFile: z.string().optional(),
  output: z.enum(["text", "json"]),
});

/** The exit codes, as those of `terraform plan -detailed-exitcode`. */
const exitCodes = { unchanged: 0, changed: 2, failed: 1 } as const;

export const planCommand = (): Command =>
  withClusterOptions(new Command("plan"))
    .summary("show what a function would do to objects, without doing it")
    .description(
      "Show what the next run of a function would do to an object, without doing it. The function's code runs here, with " +
        "your permissions, or in a Pod without any; the API server tries every write without storing it. Run it in the " +
        "function's folder.\n\n" +
        "Exit code: 0 if nothing would change, 2 if something would, 1 if a run would fail, and for errors.",
    )
    .argument("[kind]", "such as website, or website/NAME")
    .argument("[name]", "NAME, or NAMESPACE/NAME")
    .option("-f, --file <file>", "the objects as they would be after kubectl apply of this file")
    .option("--all", "all objects of the function; with --namespace, those of one namespace; and a summary")
    .option("--module <file>", "module with the function as its default export", functionModule)
    .option(
      "--url <url>",
      "call the function that runs there, such as http://localhost:8080/, instead of the module",
    )
    .addOption(
      new Option(
        "--image <image>",
        "run this image in a Pod for as long as the plan takes, instead of the module",
      ).conflicts(["url", "secretFile", "module"]),
    )
    .addOption(waitOption("with --image: how long the Pod may take until it is Ready"))
    .option("--send-secrets", "with --image: send it Secrets that you may read, if it owns or relates to any")
    .option("--secret-file <file>", "with --url: the file with the secret that it verifies")
    .option("--dir <folder>", "with --url and --image: the folder with its ReconcileFunction", "deploy")
    .addOption(outputOption("text"))
    .allowExcessArguments(false)
    .action(async (first: string | undefined, second: string | undefined, given: unknown) => {
      const { output, file, all, module, url, image, sendSecrets, wait, dir, secretFile, ...options } =
        optionsSchema.parse(given);
      const { runPlan } = await import("./run-plan.ts");
      const code =
        image !== undefined
          ? { image, wait, sendsSecrets: sendSecrets }
          : url !== undefined
            ? { url, secretFile }
            : { loaded: await loadFunction(resolve(module)) };
      const selection = { words: [first, second], file, all } as const;
      const result = await withCluster(options, (cluster) =>
        runPlan({ ...cluster, onlyIn: options.namespace, selection, code, folder: dir, output }),
      );
      process.exitCode = exitCodes[result];
    });
