import { Command, Option } from "commander";
import { z } from "zod";
import { clusterOptionsSchema, withCluster, withClusterOptions } from "../cluster-options.ts";
import { jsonText } from "../plain-text.ts";
import { neededRedis, redisOption, withRedis } from "../redis-option.ts";

const optionsSchema = clusterOptionsSchema.extend({
  redis: z.string().optional(),
  output: z.enum(["text", "json"]),
});

export const whyCommand = (): Command =>
  withClusterOptions(new Command("why"))
    .summary("why an object runs or does not run")
    .description(
      "Why an object runs or does not run: what woke it, what it waits for, how its last runs ended.",
    )
    .argument(
      "<kind>",
      "such as buckets.s3.drover.dev, bucket, or bucket/NAME; or a function, such as web/websites",
    )
    .argument("[name]", "NAME, or NAMESPACE/NAME")
    .addOption(redisOption())
    .addOption(new Option("-o, --output <form>", "of the answer").choices(["text", "json"]).default("text"))
    .allowExcessArguments(false)
    .action(async (first: string, second: string | undefined, given: unknown) => {
      const { redis, output, ...options } = optionsSchema.parse(given);
      const url = neededRedis(redis);
      const { objectWords } = await import("../meant-object.ts");
      const [kind, name] = objectWords(first, second, "why");
      const [{ keyFacts }, { whyJson, whyLines }] = await Promise.all([
        import("./key-facts.ts"),
        import("./shown.ts"),
      ]);
      const facts = await withCluster(options, ({ client, namespace }) =>
        withRedis(url, (redis) => keyFacts({ client, redis }, { kind, name, namespace, command: "why" })),
      );
      console.log(output === "json" ? jsonText(whyJson(facts)) : whyLines(facts).join("\n"));
    });
