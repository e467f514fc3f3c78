import { messageOf } from "@drover/controller";
import { functionSettings, nonSecret, readSettings } from "@drover/runtime";
import { parseArgs } from "node:util";
import { z } from "zod";
import { chooseControllers, InvalidControllersError } from "./choose-controllers.ts";
import { controllers } from "./controllers.ts";
import { withOwnSettings } from "./own-settings.ts";

/** The settings of the process. Those of runs are for each of its functions that has none of its own. */
export const managerSettings = functionSettings
  .omit({ function: true, planSecrets: true, devSession: true, devSecret: true, rests: true })
  .extend({
    /**
     * The namespace of the ReconcileFunctions that the process runs for, each with the name of its controller. A function
     * then sends its requests as the ServiceAccount of this namespace and name. Default: the process runs without
     * ReconcileFunctions, and all its functions have the permissions of the process.
     */
    functionsIn: nonSecret(
      z
        .string()
        .regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, {
          error: "give the name of a namespace, such as workloads",
        })
        .optional(),
    ),
  });
export type ManagerSettings = z.output<typeof managerSettings>;

export const controllerNames = controllers.map(({ controller }) => controller.name);

/** The settings of the process, with those of each function, and the functions that the flag `--controllers` chooses. */
export function managerConfig(args = process.argv.slice(2), env = process.env) {
  const settings = readSettings(withOwnSettings(managerSettings, controllerNames), env);
  return { ...settings, controllers: chooseControllers(controllerWords(args), controllerNames) };
}

/** The flag may be repeated, as that of kube-controller-manager. */
function controllerWords(args: readonly string[]): readonly string[] {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { controllers: { type: "string", multiple: true, default: ["*"] } },
    });
    return values.controllers.flatMap((list) => list.split(","));
  } catch (error) {
    throw new InvalidControllersError(
      `${messageOf(error)} The only flag is --controllers, such as --controllers=*,-job.`,
      { cause: error },
    );
  }
}
