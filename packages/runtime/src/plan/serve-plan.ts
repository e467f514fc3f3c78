import { type Resource, TerminalError } from "@drover/controller";
import type { FunctionSettings } from "../process/function-settings.ts";
import { closeAll, type Closeable } from "../process/process-lifecycle.ts";
import { openRegistry } from "../process/process-metrics.ts";
import type { Process } from "../process/run-process.ts";
import { InvalidSettingsError } from "../process/settings.ts";
import { serveCalls, type ServedSettings, type ServingProcess } from "../webhook/serve-function.ts";
import type { FunctionDefinition, OpenedController } from "../worker/function-definition.ts";
import { planHandler } from "./plan-handler.ts";

/**
 * Answers the calls of `drover plan --image` by a function that pulls, until SIGTERM.
 *
 * Guarantees: the process connects to neither Redis nor the API server, and runs nothing of the controller but
 * `compose` and what finds its related objects.
 */
export const servePlan = <Settings extends FunctionSettings, R extends Resource>(
  { name, controller }: FunctionDefinition<Settings, R>,
  settings: Settings,
): Promise<void> =>
  serveCalls({
    name,
    settings: () => servedSettingsOf(settings),
    controller: (_, serving) => openPlanned(controller, settings, serving),
    handler: planHandler,
  });

/** @throws InvalidSettingsError if the function is not named. */
function servedSettingsOf(settings: FunctionSettings): ServedSettings {
  const { planSecrets: webhookSecrets = "", function: identity, ...others } = settings;
  if (identity?.uid === undefined)
    throw new InvalidSettingsError([
      "DROVER_FUNCTION has no uid. With DROVER_PLAN_SECRETS, set it with one.",
    ]);
  const { namespace, name, uid: webhookUid } = identity;
  return { ...others, webhookAudience: `${namespace}/${name}`, webhookUid, webhookSecrets };
}

/** Opens a controller with resources of a process that has no connections. */
async function openPlanned<Settings extends FunctionSettings, R extends Resource>(
  open: FunctionDefinition<Settings, R>["controller"],
  settings: Settings,
  { log, stop }: ServingProcess,
): Promise<OpenedController<R>> {
  const opened: Closeable[] = [];
  const planned: Process<Settings> = {
    settings,
    log,
    client: unavailable("its client of the API server"),
    redis: unavailable("Redis"),
    registry: openRegistry(),
    stopping: stop.signal,
    // A Pod of a plan is Ready when it accepts connections.
    readiness: () => undefined,
    addEndpoint: () => undefined,
    closing: (part, close) => void opened.push({ name: part, close }),
    fail(error) {
      log.fatal({ err: error }, error.message);
      process.exitCode = 1;
      stop.abort();
    },
  };
  const { function: identity } = settings;
  const parts = await open(settings, planned, () => Promise.resolve(identity));
  opened.push({ name: "controller", close: async () => parts.close?.() });
  return { controller: parts.controller, close: () => closeAll(log, opened) };
}

/** A stand-in that throws whatever is done with it. It may be passed on. */
function unavailable(what: string): Process["client"] & Process["redis"] {
  return new Proxy({} as ReturnType<typeof unavailable>, {
    get(_, name) {
      // A promise that resolves with it looks for `then`.
      if (typeof name === "symbol" || name === "then") return undefined;
      throw new TerminalError(
        `This is a plan (drover plan --image): the function may not use ${what}. Have it declare its children and the ` +
          "objects that it reads (composeController), or run drover plan where its code is, without --image.",
      );
    },
  });
}
