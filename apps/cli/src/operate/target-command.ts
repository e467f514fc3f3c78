import { Command } from "commander";
import type { WorkQueue } from "@drover/queue";
import { z } from "zod";
import { clusterOptionsSchema, withCluster, withClusterOptions } from "../cluster-options.ts";
import { oneLine } from "@drover/controller";
import { requireRedisUrl, redisOption, withRedis } from "../redis-option.ts";
import { operatorNeeds } from "./operator-needs.ts";
import type { OperatorTarget } from "./target.ts";

const optionsSchema = clusterOptionsSchema.extend({
  redis: z.string().optional(),
  in: z.string().optional(),
  all: z.boolean().default(false),
});

/** An operator's command on one object, on a function's objects in a namespace, or on all its objects. */
export interface TargetCommand {
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  /** The objects that `--in` and `--all` select. */
  readonly objects: string;
  /** Returns the message for the terminal. */
  readonly act: (queue: WorkQueue, target: OperatorTarget) => Promise<string>;
}

export const targetCommand = ({ name, summary, description, objects, act }: TargetCommand): Command =>
  withClusterOptions(new Command(name))
    .summary(summary)
    .description(`${description}\n\n${operatorNeeds}`)
    .argument("<kind>", "such as bucket/NAME or bucket; or a function, such as web/buckets")
    .argument("[name]", "NAME, or NAMESPACE/NAME")
    .option("--in <namespace>", `${objects} of the function in this namespace`)
    .option("--all", `${objects} of the function`)
    .addOption(redisOption())
    .allowExcessArguments(false)
    .action(async (first: string, second: string | undefined, given: unknown) => {
      const { redis: asked, in: within, all, ...options } = optionsSchema.parse(given);
      const url = requireRedisUrl(asked);
      const [{ findTarget }, { withQueue }] = await Promise.all([
        import("./target.ts"),
        import("../find-object.ts"),
      ]);
      const text = await withCluster(options, (cluster) =>
        withRedis(url, async (redis) => {
          const servers = { client: cluster.client, redis };
          const target = await findTarget(cluster, servers, {
            command: name,
            first,
            second,
            in: within,
            all,
          });
          return withQueue(redis, target.fn, (queue) => act(queue, target));
        }),
      );
      console.log(text.split("\n").map(oneLine).join("\n"));
    });
