import { Command } from "commander";
import { z } from "zod";
import { clusterOptionsSchema, withCluster, withClusterOptions } from "../cluster-options.ts";
import { printableJson } from "../printable-json.ts";
import { requireRedisUrl, redisOption, withRedis } from "../redis-option.ts";
import { operatorNeeds } from "./operator-needs.ts";
import { outputOption } from "../output-option.ts";

const optionsSchema = clusterOptionsSchema.extend({
  redis: z.string().optional(),
  output: z.enum(["table", "json"]),
});

export const historyCommand = (): Command =>
  withClusterOptions(new Command("history"))
    .summary("how the last runs of an object ended")
    .description(
      "The last ten runs of an object, newest first: when they ended, how long they took, their verdict, what woke them, " +
        `the error, the trace. It is kept for a minute after the object is gone.\n\n${operatorNeeds}`,
    )
    .argument("<kind>", "such as bucket/NAME or bucket; or a function, such as web/buckets")
    .argument("[name]", "NAME, or NAMESPACE/NAME")
    .addOption(redisOption())
    .addOption(outputOption("table"))
    .allowExcessArguments(false)
    .action(async (first: string, second: string | undefined, given: unknown) => {
      const { redis: asked, output, ...options } = optionsSchema.parse(given);
      const url = requireRedisUrl(asked);
      const [{ keyFacts }, { parseObjectArguments }, { runTable }] = await Promise.all([
        import("../why/key-facts.ts"),
        import("../find-object.ts"),
        import("../why/why-output.ts"),
      ]);
      const [kind, name] = parseObjectArguments(first, second, "history");
      const facts = await withCluster(options, ({ client, namespace }) =>
        withRedis(url, (redis) => keyFacts({ client, redis }, { kind, name, namespace, command: "history" })),
      );
      if (output === "json") console.log(printableJson(facts.runs));
      else if (facts.runs.length > 0) console.log(runTable(facts.runs, facts.now).join("\n"));
      else console.error(`No run of ${facts.kind} ${facts.key} is recorded; drover why shows its state.`);
    });
