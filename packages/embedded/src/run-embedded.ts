import { registrationOf, serveBridge } from "@drover/bridge";
import { queueOf, reconcileFunctionOf, type Resource } from "@drover/controller";
import {
  type FunctionDefinition,
  type Process,
  queueMetrics,
  runProcess,
  serveController,
} from "@drover/runtime";
import type { EmbeddedSettings } from "./embedded-settings.ts";

/**
 * Runs a function until SIGTERM, as `runFunction` does, and watches the kinds that its controller is for, owns and
 * watches. It needs neither a ReconcileFunction nor another bridge. On SIGTERM it ends its runs, and then hands over
 * its streams.
 */
export async function runEmbedded<Settings extends EmbeddedSettings, R extends Resource>(
  definition: FunctionDefinition<Settings, R>,
): Promise<void> {
  const serve = async (process: Process<Settings>): Promise<void> => {
    const parts = await definition.controller(process.settings, process, () => Promise.resolve(undefined));
    const { name } = parts.controller;
    const { spec } = reconcileFunctionOf(parts.controller);
    serveBridge(process, { embeddedIn: queueOf({ name }) }).register([registrationOf({ name }, spec)]);
    const queues = serveController(parts, process);
    queueMetrics(process.registry, () => queues);
  };
  await runProcess(definition.name, definition.settings, serve, { loadsScripts: true });
}
