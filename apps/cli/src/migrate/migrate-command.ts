import { Command } from "commander";
import { z } from "zod";
import {
  clusterOptionsSchema,
  contextOption,
  droverNamespace,
  kubeconfigOption,
  withCluster,
} from "../cluster-options.ts";
import { redisOption, requireRedisUrl, withRedis } from "../redis-option.ts";

const optionsSchema = clusterOptionsSchema.extend({
  redis: z.string().optional(),
  droverNamespace: z.string(),
  finish: z.boolean().default(false),
});

export const migrateCommand = (): Command =>
  new Command("migrate")
    .summary("show which versions of Drover are in use, and finish an update")
    .description(
      "Show the versions of Drover's data, of its parts, and of the scripts that functions need in this Redis. With --finish, " +
        "remove the scripts of versions before the present one, which functions need after a downgrade and a restart of Redis. " +
        "It refuses while anything of another version is in use. The URL's user must be the bridge's or the deployer's.",
    )
    .addOption(kubeconfigOption())
    .addOption(contextOption())
    .addOption(redisOption())
    .addOption(droverNamespace())
    .option("--finish", "remove the recorded scripts of other versions")
    .allowExcessArguments(false)
    .action(async (given: unknown) => {
      const { redis: url, finish, droverNamespace: namespace, ...options } = optionsSchema.parse(given);
      const redisUrl = requireRedisUrl(url);
      const { describeState, finishMigration, readState } = await import("./migrate.ts");
      await withCluster(options, ({ client }) =>
        withRedis(redisUrl, async (redis) => {
          const state = await readState(client, redis, namespace);
          const lines = finish ? await finishMigration(redis, state) : describeState(state);
          console.log(lines.join("\n"));
        }),
      );
    });
