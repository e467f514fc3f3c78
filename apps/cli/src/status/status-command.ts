import { Command } from "commander";
import { z } from "zod";
import {
  clusterOptionsSchema,
  droverNamespace,
  withCluster,
  withClusterOptions,
} from "../cluster-options.ts";
import { defaultRedisUrl } from "../config.ts";
import { printableJson } from "../printable-json.ts";
import { redisOption } from "../redis-option.ts";
import { outputOption } from "../output-option.ts";

const optionsSchema = clusterOptionsSchema.extend({
  allNamespaces: z.boolean().default(false),
  redis: z.string().optional(),
  droverNamespace: z.string(),
  output: z.enum(["table", "json"]),
});

export const statusCommand = (): Command =>
  withClusterOptions(new Command("status"))
    .summary("the functions, and how many of their objects are due, run, wait, fail")
    .description(
      "The functions, whether they are Ready, and how many of their objects are due, run, wait, fail.",
    )
    .argument("[name]", "only this function")
    .option("-A, --all-namespaces", "the functions of all namespaces")
    .addOption(redisOption("the counts that the deployer wrote last"))
    .addOption(droverNamespace())
    .addOption(outputOption("table"))
    .allowExcessArguments(false)
    .action(async (name: string | undefined, given: unknown) => {
      const { allNamespaces, redis = defaultRedisUrl(), output, ...options } = optionsSchema.parse(given);
      const { droverNamespace: home } = options;
      const { readStatuses, statusTable, describeSource } = await import("./status.ts");
      const found = await withCluster(options, ({ client, namespace }) =>
        readStatuses(client, {
          namespace: allNamespaces ? undefined : namespace,
          name,
          redis,
          droverNamespace: home,
        }),
      );
      console.log(output === "json" ? printableJson(found) : statusTable(found).join("\n"));
      if (output === "table") console.error(describeSource(found));
    });
