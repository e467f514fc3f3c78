import { Command, Option } from "commander";
import { z } from "zod";
import type { KubeClient } from "@drover/kube";
import { absentFor } from "../absent-now.ts";
import {
  clusterOptionsSchema,
  droverNamespace,
  withCluster,
  withClusterOptions,
} from "../cluster-options.ts";
import { CommandError } from "../command-error.ts";
import { usualRedis } from "../config.ts";
import { jsonText } from "../plain-text.ts";
import { redisOption, withRedis } from "../redis-option.ts";
import type { Meant } from "./key-facts.ts";

const optionsSchema = clusterOptionsSchema.extend({
  redis: z.string().optional(),
  droverNamespace: z.string(),
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
    .addOption(droverNamespace())
    .addOption(new Option("-o, --output <form>", "of the answer").choices(["text", "json"]).default("text"))
    .allowExcessArguments(false)
    .action(async (first: string, second: string | undefined, given: unknown) => {
      const { output, ...options } = optionsSchema.parse(given);
      const [kind, name] = wordsOf(first, second);
      const answer = await withCluster(options, async ({ client, namespace }) => {
        const meant = { kind, name, namespace };
        return factsOf(client, meant, options).catch(async (error: unknown) => {
          if (!(error instanceof CommandError)) throw error;
          const { orphanedWords } = await import("./orphaned-object.ts");
          const words = await orphanedWords(client, meant);
          if (words === undefined) throw error;
          return { json: { summary: words }, text: words };
        });
      });
      console.log(output === "json" ? jsonText(answer.json) : answer.text);
    });

/** By the function that looks after an object, and its queue. */
async function factsOf(
  client: KubeClient,
  meant: Meant,
  { redis: url = usualRedis(), droverNamespace }: Omit<z.output<typeof optionsSchema>, "output">,
) {
  if (url === undefined) {
    throw new CommandError("What is due is in Redis: give --redis, or set DROVER_REDIS_URL.");
  }
  const [{ keyFacts }, { whyJson, whyLines }] = await Promise.all([
    import("./key-facts.ts"),
    import("./shown.ts"),
  ]);
  const facts = await withRedis(url, (redis) => keyFacts({ client, redis }, meant));
  const absent = await absentFor(client, [facts.fn], droverNamespace);
  return { json: { ...whyJson(facts), notRunning: absent }, text: whyLines(facts, absent).join("\n") };
}

/** `KIND/NAME`, as kubectl has it, or `KIND NAME`. */
function wordsOf(first: string, second: string | undefined): readonly [kind: string, name: string] {
  if (second !== undefined) return [first, second];
  const slash = first.indexOf("/");
  if (slash > 0 && slash < first.length - 1) return [first.slice(0, slash), first.slice(slash + 1)];
  throw new CommandError(`Which object? Write: drover why ${first.replace(/\/$/, "")} NAMESPACE/NAME`);
}
