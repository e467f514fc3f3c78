import { Command, Option } from "commander";
import { z } from "zod";
import { clusterOptionsSchema, withCluster, withClusterOptions } from "../cluster-options.ts";
import { CommandError } from "../command-error.ts";
import { usualRedis } from "../config.ts";
import { jsonText } from "../plain-text.ts";
import { redisOption, withRedis } from "../redis-option.ts";

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
      const { redis: url = usualRedis(), output, ...options } = optionsSchema.parse(given);
      if (url === undefined) {
        throw new CommandError("What is due is in Redis: give --redis, or set DROVER_REDIS_URL.");
      }
      const [kind, name] = wordsOf(first, second);
      const [{ keyFacts }, { whyJson, whyLines }] = await Promise.all([
        import("./key-facts.ts"),
        import("./shown.ts"),
      ]);
      const facts = await withCluster(options, ({ client, namespace }) =>
        withRedis(url, (redis) => keyFacts({ client, redis }, { kind, name, namespace })),
      );
      console.log(output === "json" ? jsonText(whyJson(facts)) : whyLines(facts).join("\n"));
    });

/** `KIND/NAME`, as kubectl has it, or `KIND NAME`. */
function wordsOf(first: string, second: string | undefined): readonly [kind: string, name: string] {
  if (second !== undefined) return [first, second];
  const slash = first.indexOf("/");
  if (slash > 0 && slash < first.length - 1) return [first.slice(0, slash), first.slice(slash + 1)];
  throw new CommandError(`Which object? Write: drover why ${first.replace(/\/$/, "")} NAMESPACE/NAME`);
}
