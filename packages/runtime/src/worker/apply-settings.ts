import type { Controller, Resource } from "@drover/controller";
import type { FunctionSettings } from "../process/function-settings.ts";

/** The controller with the given settings in place of its own. Its queue refuses values that are not possible. */
export function applySettings<R extends Resource>(
  controller: Controller<R>,
  settings: FunctionSettings,
): Controller<R> {
  const { retry, limits } = controller;
  const { retryAttempts: attempts = retry.attempts, runsPerSecond: perSecond, runsBurst: burst } = settings;
  return {
    ...controller,
    resyncEvery: settings.resyncEvery ?? controller.resyncEvery,
    concurrency: settings.concurrency ?? controller.concurrency,
    timeout: settings.timeout ?? controller.timeout,
    retry: {
      first: settings.retryFirst ?? retry.first,
      longest: settings.retryLongest ?? retry.longest,
      ...(attempts !== undefined && { attempts }),
    },
    limits: {
      ...limits,
      ...(perSecond !== undefined && { runs: { perSecond, burst: burst ?? Math.ceil(perSecond) } }),
    },
  };
}
