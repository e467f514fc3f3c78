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
  redis: z.string().optional(),
  droverNamespace: z.string(),
  output: z.enum(["text", "json"]),
});

export const doctorCommand = (): Command =>
  withClusterOptions(new Command("doctor"))
    .summary("check the installation: each finding with the next step")
    .description(
      "Check the API server, the parts of Drover, Redis, the functions, and objects with finalizers that nothing removes. " +
        "Prints each finding with the next step. The exit code is 1 if there is a problem.",
    )
    .addOption(redisOption("Redis is not checked"))
    .addOption(droverNamespace())
    .addOption(outputOption("text"))
    .allowExcessArguments(false)
    .action(async (given: unknown) => {
      const {
        redis = defaultRedisUrl(),
        output,
        droverNamespace: home,
        ...options
      } = optionsSchema.parse(given);
      const [{ examine }, { countFindings, describeFindings }] = await Promise.all([
        import("./doctor.ts"),
        import("./finding.ts"),
      ]);
      const findings = await withCluster(options, ({ client }) =>
        examine(client, { redis, droverNamespace: home }),
      );
      console.log(
        output === "json"
          ? printableJson(findings)
          : [...describeFindings(findings), countFindings(findings)].join("\n"),
      );
      if (findings.some(({ level }) => level === "problem")) process.exitCode = 1;
    });
