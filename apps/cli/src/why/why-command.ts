import { Command } from "commander";
import { z } from "zod";
import type { KubeClient } from "@drover/kube";
import { describeAbsentParts } from "../find-absent-parts.ts";
import {
  clusterOptionsSchema,
  droverNamespace,
  withCluster,
  withClusterOptions,
} from "../cluster-options.ts";
import { CommandError } from "../command-error.ts";
import type { ObjectQuery } from "../find-object.ts";
import { printableJson } from "../printable-json.ts";
import { requireRedisUrl, redisOption, withRedis } from "../redis-option.ts";
import { outputOption } from "../output-option.ts";

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
    .addOption(outputOption("text"))
    .allowExcessArguments(false)
    .action(async (first: string, second: string | undefined, given: unknown) => {
      const { output, ...options } = optionsSchema.parse(given);
      const { parseObjectArguments } = await import("../find-object.ts");
      const [kind, name] = parseObjectArguments(first, second, "why");
      const answer = await withCluster(options, async ({ client, namespace }) => {
        const meant = { kind, name, namespace, command: "why" };
        return factsOf(client, meant, options).catch(async (error: unknown) => {
          if (!(error instanceof CommandError)) throw error;
          const [{ describeOrphan }, { describeChild }] = await Promise.all([
            import("./describe-orphan.ts"),
            import("./describe-child.ts"),
          ]);
          const text = (await describeOrphan(client, meant)) ?? (await describeChild(client, meant));
          if (text === undefined) throw error;
          return { json: { summary: text }, text };
        });
      });
      console.log(output === "json" ? printableJson(answer.json) : answer.text);
    });

/** Reads the facts from the object's function and its queue. */
async function factsOf(
  client: KubeClient,
  meant: ObjectQuery,
  { redis, droverNamespace: home }: Omit<z.output<typeof optionsSchema>, "output">,
) {
  const url = requireRedisUrl(redis);
  const [{ keyFacts }, { whyJson, whyLines }] = await Promise.all([
    import("./key-facts.ts"),
    import("./why-output.ts"),
  ]);
  const facts = await withRedis(url, (servers) => keyFacts({ client, redis: servers }, meant));
  const absent = await describeAbsentParts(client, [facts.fn], home);
  return { json: { ...whyJson(facts), notRunning: absent }, text: whyLines(facts, absent).join("\n") };
}
