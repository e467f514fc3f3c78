import { Command } from "commander";
import { z } from "zod";
import { clusterOptionsSchema, withCluster, withClusterOptions } from "../cluster-options.ts";
import { removalOf, removalOptions, removalOptionsSchema } from "./removal-options.ts";

const optionsSchema = z.object({
  ...clusterOptionsSchema.shape,
  ...removalOptionsSchema.shape,
  kind: z.string().optional(),
});

export const removeCommand = (): Command =>
  removalOptions(withClusterOptions(new Command("remove")))
    .summary("remove a function, and leave no object with a finalizer that nothing removes")
    .description(
      "Remove a function: its ReconcileFunction, and all that Drover made for it. If objects have its finalizer, which only " +
        "the function removes, choose what becomes of them. The CRD and the objects stay otherwise. The command may be " +
        "interrupted and repeated.",
    )
    .argument("<function>", "NAME, or NAMESPACE/NAME")
    .option("--kind <plural.group>", "kind of the objects to release, if the function is gone already")
    .allowExcessArguments(false)
    .action(async (name: string, given: unknown) => {
      const { kind, ...options } = optionsSchema.parse(given);
      const [{ remove }, { queriedKey }] = await Promise.all([
        import("./remove.ts"),
        import("../find-object.ts"),
      ]);
      await withCluster(options, ({ client, namespace }) =>
        remove(client, { ...removalOf(options), key: queriedKey({ name, namespace }, "Namespaced"), kind }),
      );
    });
