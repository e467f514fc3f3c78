import { hostname } from "node:os";
import {
  type Announcement,
  type Controller,
  isInCode,
  type FunctionIdentity,
  namesQueueOf,
  type QueueName,
  queueOf,
  type Resource,
} from "@drover/controller";
import { eventRecorder, type KubeObject, refOf } from "@drover/kube";
import { openNamedKeys, openWorkQueue, type WorkQueue } from "@drover/queue";
import type { FunctionSettings } from "./function-settings.ts";
import { tellOfRun } from "./log.ts";
import { identityOf } from "./identity-of.ts";
import { nameOnce } from "./name-once.ts";
import { pacedController } from "./paced-controller.ts";
import { type Process, type ProcessOptions, runProcess } from "./run-process.ts";
import { queueMetrics, runMetrics } from "./process-metrics.ts";
import { reconcileOnce } from "./reconcile-once.ts";

/** A function: a controller and the process it runs in. */
export interface FunctionDefinition<Settings extends FunctionSettings, R extends Resource> {
  /** Names the process in logs. */
  readonly name: string;
  /** Read the settings: `readSettings(functionSettings.extend({ ... }), process.env)` in the function's config.ts. */
  readonly settings: () => Settings;
  /**
   * Made once; `close` gives back what it opened.
   *
   * @param identified resolves when the ReconcileFunction that the process runs for is known, which may have to be applied
   * yet; to undefined where the process names itself. It rejects when the process is asked to stop before.
   */
  readonly controller: (
    settings: Settings,
    process: Process<Settings>,
    identified: () => Promise<FunctionIdentity | undefined>,
  ) => FunctionParts<R> | Promise<FunctionParts<R>>;
}

export interface FunctionParts<R extends Resource> {
  readonly controller: Controller<R>;
  /** Gives back what the controller stands on. */
  close?(): void | Promise<void>;
}

/** How long Redis may take to answer before the process calls itself not ready. */
const readyWithin = 1_000;

/**
 * Run a function until SIGTERM: claim keys from its controller's queue and reconcile them, `concurrency` at once. On
 * SIGTERM it takes no new key, lets the runs under way end within the grace, and leaves what is over it due for others.
 */
export async function runFunction<Settings extends FunctionSettings, R extends Resource>(
  definition: FunctionDefinition<Settings, R>,
  options: ProcessOptions = {},
): Promise<void> {
  const serve = async (process: Process<Settings>): Promise<void> => {
    const { settings, stopping, registry } = process;
    const { function: registered } = settings;
    const identity = registered === undefined ? Promise.resolve(undefined) : identityOf(registered, process);
    identity.catch(() => undefined);
    try {
      const parts = await definition.controller(settings, process, () => identity);
      const queues = serveController(parts, process, await identity);
      queueMetrics(registry, () => queues);
    } catch (error) {
      // It was asked to stop while it waited.
      if (!stopping.aborted) throw error;
    }
  };
  await runProcess(definition.name, definition.settings, serve, options);
}

/**
 * A controller as a part of a process, which takes keys from now on; answers the queues that it takes them from.
 *
 * @param identity whose queues they are. Default: those of a program that names itself, by its controller's name.
 */
export function serveController<R extends Resource>(
  parts: FunctionParts<R>,
  process: Process<FunctionSettings>,
  identity: FunctionIdentity = { name: parts.controller.name },
): readonly WorkQueue[] {
  const { log, client, closing, settings } = process;
  const controller = pacedController(parts.controller, settings);
  closing("controller", async () => parts.close?.());
  const name = queueOf(identity);
  const queue = openQueue(name, process);
  const asking = controller.watches.filter(isInCode).map((watched) => {
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
  const running = { controller, client, log, announce, rests: settings.rests };
  work(queue, "Reconciled", (run) => reconcileOnce(running, run), true);
  for (const { watched, names, of } of asking) {
    const named = openNamedKeys(process.redis, names);
    work(of, "Named", (run) => nameOnce({ watched, client, queue, named, log }, run));
  }
  log.info({ controller: controller.name, queue: name }, "Taking keys");
  return [queue, ...asking.map(({ of }) => of)];
}

function openQueue(name: QueueName, { redis, log, settings, closing, readiness }: Process<FunctionSettings>) {
  const times = { lease: settings.lease, renewal: settings.leaseRenewal };
  // Names of other functions' keys are none of our business: the bridge looks over all.
  const queue = openWorkQueue({ redis, controller: name, log, times, upkeep: "own" });
  closing(`queue ${name}`, () => queue.close());
  readiness(`redis ${name}`, async () => (await queue.ping(readyWithin), undefined));
  return queue;
}

type Handler = Parameters<WorkQueue["work"]>[0];

/** Works on the keys of a queue as the controller says: as many at once, for as long, tried again as often. */
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
      onSettled: (run, verdict, duration, by) => {
        metrics.settled(queue.controller, run, verdict, duration, by);
        tellOfRun(log, what, run, verdict, duration);
      },
    });
    closing(`worker ${queue.controller}`, () => work.drain(settings.stopGrace));
  };
}
