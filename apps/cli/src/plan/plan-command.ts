import { Command, Option } from "commander";
import { resolve } from "node:path";
import { z } from "zod";
import { clusterOptionsSchema, withCluster, withClusterOptions } from "../cluster-options.ts";
import { functionModule, loadFunction } from "../generate/load-function.ts";

const optionsSchema = clusterOptionsSchema.extend({
  file: z.string().optional(),
  all: z.boolean().default(false),
  module: z.string(),
  url: z.string().optional(),
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
      "Show what the next run of a function would do to an object, without doing it. The function's code runs here, with\n" +
        "your permissions; the API server tries every write without storing it. Run it in the function's folder.\n" +
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
    .option("--secret-file <file>", "with --url: the file with the secret that it verifies")
    .option("--dir <folder>", "with --url: the folder with its ReconcileFunction", "deploy")
    .addOption(new Option("-o, --output <form>", "output format").choices(["text", "json"]).default("text"))
    .allowExcessArguments(false)
    .action(async (first: string | undefined, second: string | undefined, given: unknown) => {
      const { output, file, all, module, url, dir, secretFile, ...options } = optionsSchema.parse(given);
      const [{ plannedCalls }, { plannedObjects }, { planObjects }, { printPlans }] = await Promise.all([
        import("./planned-calls.ts"),
        import("./planned-objects.ts"),
        import("./plan-objects.ts"),
        import("./print-plans.ts"),
      ]);
      const loaded = url === undefined ? await loadFunction(resolve(module)) : undefined;
      const result = await withCluster(options, async ({ client, namespace }) => {
        const called =
          url === undefined
            ? undefined
            : await plannedCalls({ url, folder: dir, secretFile, client, namespace });
        const controller = loaded?.controller ?? called?.().settings;
        if (controller === undefined) throw new Error("There is neither a module nor a URL.");
        const cluster = { controller, called, client, namespace, onlyIn: options.namespace };
        const objects = await plannedObjects(cluster, { words: [first, second], file, all });
        return printPlans(planObjects(cluster, objects), { output, isSummarized: all });
      });
      process.exitCode = exitCodes[result];
    });
