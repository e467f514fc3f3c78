import { Command, Option } from "commander";
import { z } from "zod";
import {
  clusterOptionsSchema,
  droverNamespace,
  withCluster,
  withClusterOptions,
} from "../cluster-options.ts";
import { waitOption } from "../wait-option.ts";

const optionsSchema = clusterOptionsSchema.extend({
  finalize: z.boolean().default(false),
  release: z.boolean().default(false),
  yes: z.boolean().default(false),
  kind: z.string().optional(),
  withoutDeployer: z.boolean().default(false),
  droverNamespace: z.string(),
  wait: z.number(),
});

export const removeCommand = (): Command =>
  withClusterOptions(new Command("remove"))
    .summary("remove a function, and leave no object with a finalizer that nothing removes")
    .description(
      "Remove a function: its ReconcileFunction, and all that Drover made for it. If objects have its finalizer, which only\n" +
        "the function removes, choose what becomes of them. The CRD and the objects stay otherwise. The command may be\n" +
        "interrupted and repeated.",
    )
    .argument("<function>", "NAME, or NAMESPACE/NAME")
    .addOption(
      new Option(
        "--finalize",
        "first delete the objects with its finalizer; the function undoes what it made for them",
      ).conflicts("release"),
    )
    .option("--release", "keep the objects and what the function made for them, and remove its finalizer")
    .option("--yes", "agree to the deletion of objects")
    .option("--kind <plural.group>", "kind of the objects to release, if the function is gone already")
    .option("--without-deployer", "do what the deployer would do, which is gone for good; keys in Redis stay")
    .addOption(droverNamespace())
    .addOption(waitOption("how long the objects, and then the function, may take to go"))
    .allowExcessArguments(false)
    .action(async (name: string, given: unknown) => {
      const { finalize, release, yes, kind, wait, withoutDeployer, ...options } = optionsSchema.parse(given);
      const [{ remove }, { queriedKey }] = await Promise.all([
        import("./remove.ts"),
        import("../find-object.ts"),
      ]);
      await withCluster(options, ({ client, namespace }) =>
        remove(client, {
          key: queriedKey({ name, namespace }, "Namespaced"),
          choice: finalize ? "finalize" : release ? "release" : undefined,
          isConfirmed: yes,
          kind,
          wait,
          withoutDeployerIn: withoutDeployer ? options.droverNamespace : undefined,
          print: (line) => console.log(line),
        }),
      );
    });
