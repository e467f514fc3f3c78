import {
  hasNamesInCode,
  type FunctionIdentity,
  messageOf,
  namesQueueOf,
  queueOf,
  type Resource,
} from "@drover/controller";
import { openMappedKeys, type WorkQueue } from "@drover/queue";
import type { ReadinessCheck } from "../http/process-server.ts";
import { type FunctionSettings, queueTimes } from "../process/function-settings.ts";
import { resolveIdentity } from "./resolve-identity.ts";
import { mapOnce } from "../run/map-once.ts";
import type { DevSession } from "../run/developed-object.ts";
import type { FunctionDefinition, OpenedController } from "./function-definition.ts";
import { servePlan } from "../plan/serve-plan.ts";
import { applySettings } from "./apply-settings.ts";
import { type Process, type ProcessOptions, runProcess } from "../process/run-process.ts";
import { queueMetrics, type RunMetrics, runMetrics } from "../process/process-metrics.ts";
import { openReconciler } from "./open-reconciler.ts";
import { openWorker, type Worker } from "./open-worker.ts";

/** The process is not ready if Redis takes longer than this to answer, ms. */
const pingTimeout = 1_000;

/**
 * Runs a function until SIGTERM: claims keys from its controller's queue and reconciles them, `concurrency` at once. On
 * SIGTERM it takes no new key, lets the runs in progress end within the grace, and then stops the others and leaves
 * their keys due.
 *
 * With `planSecrets`, it answers the calls of `drover plan --image` instead (`servePlan`).
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
    try {
      const queues = await serveDefinition(definition, process, { identity, runs: runMetrics(registry) });
      queueMetrics(registry, () => queues);
    } catch (error) {
      // The process was asked to stop while it waited.
      if (!stopping.aborted) throw error;
    }
  };
  const planned = planSettings(definition.settings);
  await (planned === undefined
    ? runProcess(definition.name, definition.settings, serve, options)
    : servePlan(definition, planned));
}

/**
 * Opens the controller of a definition as a part of a process, and takes its keys once its identity is known.
 *
 * @throws the error of `identity`.
 */
export async function serveDefinition<Settings extends FunctionSettings, R extends Resource>(
  { controller: open }: Pick<FunctionDefinition<Settings, R>, "controller">,
  process: Process<Settings>,
  { identity, runs }: { readonly identity: Promise<FunctionIdentity | undefined>; readonly runs: RunMetrics },
): Promise<readonly WorkQueue[]> {
  identity.catch(() => undefined);
  const parts = await open(process.settings, process, () => identity);
  return serveController(parts, process, await identity, runs);
}

/** The settings of a process that answers a plan; undefined in any other. */
function planSettings<Settings extends FunctionSettings>(read: () => Settings): Settings | undefined {
  try {
    const settings = read();
    return settings.planSecrets === undefined ? undefined : settings;
  } catch {
    return undefined; // `runProcess` reads them again, and reports the problem.
  }
}

/** The session of `drover dev` that the process belongs to. */
const sessionIn = ({ devSession: name, devSecret: secret }: FunctionSettings): DevSession | undefined =>
  name === undefined || secret === undefined ? undefined : { name, secret };

/**
 * Runs a controller as a part of a process, which takes keys from now on. Returns the queues that it takes them from.
 *
 * @param identity names the queues. Default: that of a program without a ReconcileFunction, by its controller's name.
 * @param runs the metrics of runs, which a registry can have only once.
 */
export function serveController<R extends Resource>(
  parts: OpenedController<R>,
  process: Process<FunctionSettings>,
  identity: FunctionIdentity = { name: parts.controller.name },
  runs: RunMetrics = runMetrics(process.registry),
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
    concurrency: controller.concurrency,
    scalesToZero: settings.rests,
    session: sessionIn(settings),
    controllerFor: () => controller,
  });
  closing("events", () => reconciler.close());

  const shared = {
    redis,
    log,
    times: queueTimes(settings),
    runs,
    version: settings.rollout,
  };
  const serve = (worker: Worker): Worker => {
    const { controller: name } = worker.queue;
    closing(`queue ${name}`, () => worker.queue.close());
    readiness(`redis ${name}`, redisCheck(worker.queue, parts));
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

/** Reports a Redis that does not answer; the process is then not ready, unless it answers requests without Redis. */
const redisCheck =
  (queue: WorkQueue, { answersWithoutRedis }: { readonly answersWithoutRedis?: boolean }): ReadinessCheck =>
  async () => {
    try {
      await queue.ping(pingTimeout);
      return undefined;
    } catch (error) {
      if (answersWithoutRedis !== true) throw error;
      return { note: messageOf(error) };
    }
  };
