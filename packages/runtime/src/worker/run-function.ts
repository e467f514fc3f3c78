import { hostname } from "node:os";
import {
  type Announcement,
  type Controller,
  hasNamesInCode,
  type FunctionIdentity,
  namesQueueOf,
  type QueueName,
  queueOf,
  type Resource,
} from "@drover/controller";
import { eventRecorder, type KubeObject, refOf } from "@drover/kube";
import { openMappedKeys, openWorkQueue, type WorkQueue } from "@drover/queue";
import type { FunctionSettings } from "../process/function-settings.ts";
import { logRun } from "../process/log.ts";
import { resolveIdentity } from "./resolve-identity.ts";
import { mapOnce } from "../run/map-once.ts";
import { applySettings } from "./apply-settings.ts";
import { type Process, type ProcessOptions, runProcess } from "../process/run-process.ts";
import { queueMetrics, runMetrics } from "../process/process-metrics.ts";
import { reconcileOnce } from "../run/reconcile-once.ts";

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
  options: ProcessOptions = {},
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
  const { log, client, closing, settings } = process;
  const controller = applySettings(parts.controller, settings);
  closing("controller", async () => parts.close?.());
  const name = queueOf(identity);
  const queue = openQueue(name, process);
  const namesQueues = controller.watches.filter(hasNamesInCode).map((watched) => {
    const names = namesQueueOf(name, watched.kind);
    return { watched, names, of: openQueue(names, process) };
  });
  const recorder = eventRecorder({
    client,
    log,
    controller: `drover.dev/${controller.name}`,
    instance: hostname(),
  });
  closing("events", () => recorder.close());
  const ref = refOf(controller.for);
  const announce = ({ metadata }: KubeObject, announcement: Announcement): void =>
    recorder.record({ regarding: { ref, metadata }, ...announcement });

  const work = worker(controller, process);
  const running = { controller, client, log, announce, scalesToZero: settings.rests };
  work(queue, "Reconciled", (run) => reconcileOnce(running, run), true);
  for (const { watched, names, of } of namesQueues) {
    const named = openMappedKeys(process.redis, names);
    work(of, "Named", (run) => mapOnce({ watched, client, queue, named, log }, run));
  }
  log.info({ controller: controller.name, queue: name }, "Taking keys");
  return [queue, ...namesQueues.map(({ of }) => of)];
}

function openQueue(name: QueueName, { redis, log, settings, closing, readiness }: Process<FunctionSettings>) {
  const times = { lease: settings.lease, renewal: settings.leaseRenewal };
  // `own`: no SCAN over the keys of other functions. The bridge does that for all queues.
  const queue = openWorkQueue({ redis, controller: name, log, times, upkeep: "own" });
  closing(`queue ${name}`, () => queue.close());
  readiness(`redis ${name}`, async () => (await queue.ping(pingTimeout), undefined));
  return queue;
}

type Handler = Parameters<WorkQueue["work"]>[0];

/** Processes the keys of a queue with the controller's concurrency, timeout and retries. */
function worker<R extends Resource>(
  controller: Controller<R>,
  { settings, log, registry, closing }: Process<FunctionSettings>,
) {
  const metrics = runMetrics(registry);
  return (queue: WorkQueue, what: string, handler: Handler, own = false): void => {
    const work = queue.work(handler, {
      concurrency: controller.concurrency,
      timeout: controller.timeout,
      version: settings.rollout,
      backoff: controller.retry,
      ...(own && { limits: controller.limits }),
      onSettled: (run, outcome, duration, by) => {
        metrics.settled(queue.controller, run, outcome, duration, by);
        logRun(log, what, run, outcome, duration);
      },
    });
    closing(`worker ${queue.controller}`, () => work.drain(settings.stopGrace));
  };
}
