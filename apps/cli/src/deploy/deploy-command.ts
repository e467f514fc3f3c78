import { Command } from "commander";
import { resolve } from "node:path";
import { z } from "zod";
import {
  clusterOptionsSchema,
  droverNamespace,
  withCluster,
  withClusterOptions,
} from "../cluster-options.ts";
import { waitOption } from "../waiting/wait-option.ts";

const optionsSchema = clusterOptionsSchema.extend({
  dir: z.string(),
  wait: z.number(),
  push: z.string().optional(),
  builder: z.string(),
  droverNamespace: z.string(),
});

export const deployCommand = (): Command =>
  withClusterOptions(new Command("deploy"))
    .summary("apply a function's CRD and ReconcileFunction, and wait until it is rolled out")
    .description(
      "Apply a function's CRD and ReconcileFunction, and wait until a Pod of it has been Ready and Pods of older versions " +
        "are gone. First checks that you hold all permissions that the function asks for.",
    )
    .option("--dir <folder>", "folder of manifests, as drover generate writes them", "deploy")
    .option("--push <image>", "first build the image with the Dockerfile here, and push it under this name")
    .option("--builder <program>", "what builds and pushes it, such as podman", "docker")
    .addOption(waitOption("how long the roll-out may take; 0s: do not wait"))
    .addOption(droverNamespace())
    .allowExcessArguments(false)
    .action(async (given: unknown) => {
      const {
        dir,
        wait,
        push: image,
        builder,
        droverNamespace: home,
        ...options
      } = optionsSchema.parse(given);
      // Loaded here because its imports take a moment to load, and other commands do not need them.
      const { deploy } = await import("./deploy.ts");
      const push =
        image === undefined
          ? undefined
          : async () =>
              (await import("./push-image.ts")).pushImage({ folder: process.cwd(), image, builder });
      const print = (line: string): void => console.log(line);
      const { namespace } = options;
      await withCluster(options, (cluster) =>
        deploy(cluster, { folder: resolve(dir), namespace, wait, push, droverNamespace: home, print }),
      );
    });
