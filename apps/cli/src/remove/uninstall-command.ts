import { Command } from "commander";
import { z } from "zod";
import { clusterOptionsSchema, contextOption, kubeconfigOption, withCluster } from "../cluster-options.ts";
import { removalOf, removalOptions, removalOptionsSchema } from "./removal-options.ts";

const optionsSchema = z.object({ ...clusterOptionsSchema.shape, ...removalOptionsSchema.shape });

// Without --namespace: it removes the functions of all.
export const uninstallCommand = (): Command =>
  removalOptions(new Command("uninstall").addOption(kubeconfigOption()).addOption(contextOption()))
    .summary("remove the functions of all namespaces, so that Drover can be uninstalled")
    .description(
      "Remove the functions of all namespaces, as drover remove does, so that helm uninstall leaves nothing that holds an " +
        "object or a namespace. Without --finalize or --release it lists them, and changes nothing. The command may be " +
        "interrupted and repeated.",
    )
    .allowExcessArguments(false)
    .action(async (given: unknown) => {
      const options = optionsSchema.parse(given);
      const { uninstall } = await import("./uninstall.ts");
      await withCluster(options, ({ client }) =>
        uninstall(client, { ...removalOf(options), droverNamespace: options.droverNamespace }),
      );
    });
