import { Command, Option } from "commander";
import { resolve } from "node:path";
import { z } from "zod";
import { clusterOptionsSchema, withCluster, withClusterOptions } from "../cluster-options.ts";
import { functionModule, loadFunction } from "../generate/load-function.ts";

const optionsSchema = clusterOptionsSchema.extend({
  file: z.string().optional(),
  all: z.boolean().default(false),
  module: z.string(),
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
    .addOption(new Option("-o, --output <form>", "output format").choices(["text", "json"]).default("text"))
    .allowExcessArguments(false)
    .action(async (first: string | undefined, second: string | undefined, given: unknown) => {
      const { output, file, all, module, ...options } = optionsSchema.parse(given);
      const [{ plannedObjects }, { planObjects }, { printPlans }] = await Promise.all([
        import("./planned-objects.ts"),
        import("./plan-objects.ts"),
        import("./print-plans.ts"),
      ]);
      const { controller } = await loadFunction(resolve(module));
      const result = await withCluster(options, async ({ client, namespace }) => {
        const cluster = { controller, client, namespace, onlyIn: options.namespace };
        const objects = await plannedObjects(cluster, { words: [first, second], file, all });
        return printPlans(planObjects(cluster, objects), { output, isSummarized: all });
      });
      process.exitCode = exitCodes[result];
    });
