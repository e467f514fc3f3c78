import {
  type Controller,
  hasNamesInCode,
  type FunctionIdentity,
  namesQueueOf,
  queueOf,
  type Resource,
} from "@drover/controller";
import { openMappedKeys, type WorkQueue } from "@drover/queue";
import { type FunctionSettings, queueTimes } from "../process/function-settings.ts";
import { resolveIdentity } from "./resolve-identity.ts";
import { mapOnce } from "../run/map-once.ts";
import { applySettings } from "./apply-settings.ts";
import { type Process, type ProcessOptions, runProcess } from "../process/run-process.ts";
import { queueMetrics, runMetrics } from "../process/process-metrics.ts";
import { openReconciler } from "./open-reconciler.ts";
import { openWorker, type Worker } from "./open-worker.ts";

/** A function: a controller and the process that it runs in. */
export interface FunctionDefinition<Settings extends FunctionSettings, R extends Resource> {
  /** Names the process in logs. */
  readonly name: string;
  /** Reads the settings: `readSettings(functionSettings.extend({ ... }), process.env)` in the function's config.ts. */
  readonly settings: () => Settings;
  /**
   * Called once. `close` of the result releases what this has opened.
   *
   * @param identified resolves when the ReconcileFunction that the process runs for is known, which may not be applied
   * yet; resolves to undefined if the process has no ReconcileFunction. It rejects when the process is asked to stop
   * before that.
   */
  readonly controller: (
    settings: Settings,
    process: Process<Settings>,
    identified: () => Promise<FunctionIdentity | undefined>,
  ) => OpenedController<R> | Promise<OpenedController<R>>;
}

export interface OpenedController<R extends Resource> {
  readonly controller: Controller<R>;
  /** Releases the resources of the controller. */
  close?(): void | Promise<void>;
}

/** The process is not ready if Redis takes longer than this to answer, ms. */
const pingTimeout = 1_000;

/**
 * Runs a function until SIGTERM: claims keys from its controller's queue and reconciles them, `concurrency` at once. On
 * SIGTERM it takes no new key, lets the runs in progress end within the grace, and then stops the others and leaves
 * their keys due.
 */
export async function runFunction<Settings extends FunctionSettings, R extends Resource>(
  definition: FunctionDefinition<Settings, R>,
  options: ProcessOptions<Settings> = {},
): Promise<void> {
  const serve = async (process: Process<Settings>): Promise<void> => {
    const { settings, stopping, registry } = process;
    const { function: registered } = settings;
    const identity =
      registered === undefined ? Promise.resolve(undefined) : resolveIdentity(registered, process);
    identity.catch(() => undefined);
    try {
      const parts = await definition.controller(settings, process, () => identity);
      const queues = serveController(parts, process, await identity);
      queueMetrics(registry, () => queues);
    } catch (error) {
      // The process was asked to stop while it waited.
      if (!stopping.aborted) throw error;
    }
  };
  await runProcess(definition.name, definition.settings, serve, options);
}

/**
 * Runs a controller as a part of a process, which takes keys from now on. Returns the queues that it takes them from.
 *
 * @param identity names the queues. Default: that of a program without a ReconcileFunction, by its controller's name.
 */
export function serveController<R extends Resource>(
  parts: OpenedController<R>,
  process: Process<FunctionSettings>,
  identity: FunctionIdentity = { name: parts.controller.name },
): readonly WorkQueue[] {
  const { log, client, redis, closing, readiness, settings } = process;
  const controller = applySettings(parts.controller, settings);
  closing("controller", async () => parts.close?.());
  const queue = queueOf(identity);
  const reconciler = openReconciler({
    name: controller.name,
    for: controller.for,
    client,
    log,
    scalesToZero: settings.rests,
    controllerFor: () => controller,
  });
  closing("events", () => reconciler.close());

  const shared = {
    redis,
    log,
    times: queueTimes(settings),
    runs: runMetrics(process.registry),
    version: settings.rollout,
  };
  const serve = (worker: Worker): Worker => {
    const { controller: name } = worker.queue;
    closing(`queue ${name}`, () => worker.queue.close());
    readiness(`redis ${name}`, async () => (await worker.queue.ping(pingTimeout), undefined));
    return worker;
  };
  const main = serve(
    openWorker({ ...shared, queue, controller, ended: { message: "Reconciled" } }, reconciler.reconcile),
  );
  const { concurrency, timeout, retry } = controller;
  const ofNames = controller.watches.filter(hasNamesInCode).map((watched) => {
    const names = namesQueueOf(queue, watched.kind);
    const options = { watched, client, queue: main.queue, named: openMappedKeys(redis, names), log };
    const worker = openWorker(
      { ...shared, queue: names, controller: { concurrency, timeout, retry }, ended: { message: "Named" } },
      (run) => mapOnce(options, run),
    );
    return serve(worker);
  });
  const workers = [main, ...ofNames];
  // All at once: they share the grace, and a run that is slow to end in one queue lets no new key begin in another.
  closing("workers", async () => {
    await Promise.all(workers.map((worker) => worker.drain(settings.stopGrace)));
  });
  log.info({ controller: controller.name, queue }, "Taking keys");
  return workers.map((worker) => worker.queue);
}
