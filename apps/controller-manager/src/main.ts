/**
 * # The controller manager
 *
 * Runs functions that replace controllers of kube-controller-manager, in one process: all of them, or those that
 * `--controllers` chooses. `controllers.ts` has the list; `hostFunctions` of the runtime keeps each one apart from the
 * others; `manifests.ts` makes the files in `deploy/`.
 */
import { hostFunctions, runProcess } from "@drover/runtime";
import { managerConfig } from "./config.ts";
import { controllers } from "./controllers.ts";
import { settingsOf } from "./own-settings.ts";

await runProcess("controller-manager", managerConfig, (process) => {
  const { settings } = process;
  hostFunctions(
    process,
    controllers.flatMap(({ controller }) => {
      const { name } = controller;
      if (!settings.controllers.includes(name)) return [];
      return [{ name, settings: settingsOf(name, settings), controller: () => ({ controller }) }];
    }),
  );
});
