import { sleepUnlessAborted } from "@drover/timers";
import {
  type Log,
  type Milliseconds,
  parseDuration,
  type ObjectKey,
  type QueueName,
  queueOf,
  ReconcileFunction,
  type ReconcileFunctionStatus,
} from "@drover/controller";
import type { KubeClient } from "@drover/kube";
import {
  type DeclaredFunction,
  followDeclaredFunctions,
  cacheWithTtl,
  TenantRedisError,
} from "@drover/runtime";
import { isDeepStrictEqual } from "node:util";
import type { FunctionQueues, FunctionWithSpec } from "../redis/function-queues.ts";
import { minPods } from "../pods/next-rollout.ts";
import { podsWanted } from "./pods-wanted.ts";
import { wakeBackoff } from "./wake-backoff.ts";
import { rescale } from "./rescale.ts";
import { scalingSettings, setByKeda } from "./scaling-settings.ts";

/** Checks the queue of every function, and wakes the functions that need another number of Pods. */
export interface Scaler {
  readonly synced: () => boolean;
  /**
   * For autoscalers: the number of Pods that a function should have now, and the counts behind it. Undefined if the
   * function does not exist. A result is reused for a second.
   */
  readonly figures: (key: ObjectKey) => Promise<ScalingFigures | HeldFigure | undefined>;
  /** Wakes every function of the namespaces for which `isMeant` returns true. */
  readonly wakeAll: (isMeant: (namespace: string | undefined) => boolean) => void;
  /** Resolves when the scaler has stopped, after `signal` has fired. */
  readonly done: Promise<void>;
}

/** The number of Pods that a function should have, and the counts of its queues. */
export interface ScalingFigures {
  readonly wanted: number;
  readonly due: number;
  readonly oldestDueSeconds: number;
  readonly running: number;
}

/** The number of Pods that KEDA has set, because the function's queues cannot be read now. */
export interface HeldFigure {
  readonly wanted: number;
  readonly held: true;
}

/** How long a figure is reused: computing one runs scripts in Redis. */
const figuresTtl: Milliseconds = 1_000;

/**
 * Time for each function in a round; a check takes Redis a tenth of it. With more than a few hundred functions each is
 * checked less often, so that Redis has time for other work.
 */
const timePerFunction: Milliseconds = 1;

/** The scaler's view of a function. */
interface TrackedFunction extends FunctionWithSpec {
  readonly key: ObjectKey;
  readonly status: ReconcileFunctionStatus;
}

export interface ScalerOptions {
  readonly client: KubeClient;
  readonly queues: FunctionQueues;
  /** Wakes a function's key in the deployer's queue. */
  readonly wake: (key: ObjectKey) => Promise<void>;
  /**
   * The deployer's own queue. The scaler wakes the deployer's own registration, because no bridge does so until it is
   * permitted.
   */
  readonly ownQueue: QueueName;
  readonly every: Milliseconds;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/**
 * The scaler does not act. The run that it wakes makes the same decision from the same counts, and acts. So several
 * scalers may run, and one that is killed loses nothing.
 */
export function startScaler({ client, queues, wake, ownQueue, every, log, signal }: ScalerOptions): Scaler {
  let functions: ReadonlyMap<ObjectKey, TrackedFunction> | undefined;
  const wakes = wakeBackoff();
  let isOwnSeen = false;
  const figures = cachedFigures(async (key) => {
    const one = functions?.get(key);
    return one && (await figuresFor(queues, one, log));
  });
  const reflector = followDeclaredFunctions({
    client,
    log,
    signal,
    onChange(declared) {
      const now = new Map(declared.flatMap(trackedFunction).map((one) => [one.key, one]));
      const registration = declared.find(({ object }) => queueOf(object.metadata) === ownQueue);
      if (registration !== undefined && !isOwnSeen) tryToWake(registration.key);
      isOwnSeen = registration !== undefined;
      for (const key of functions?.keys() ?? []) if (!now.has(key)) wakes.forget(key);
      figures.keep(now);
      functions = now;
    },
  });
  const tryToWake = (key: ObjectKey): void =>
    void wake(key).catch((error: unknown) => {
      log.warn({ err: error, function: key }, "Could not wake a function");
    });
  const known = (): readonly TrackedFunction[] => [...(functions?.values() ?? [])];
  const look = async (one: TrackedFunction): Promise<void> => {
    const now = new Date();
    const decision = await newDecision(queues, one, now);
    if (decision === undefined) wakes.forget(one.key);
    else if (wakes.isDue(one.key, decision, now.getTime())) await wake(one.key);
  };
  const looks = oneAtATime(look, log);
  /** A function with a slow Redis is checked less often, and does not delay others. */
  const lookAtAll = (): void => {
    queues.closeAllExcept(known());
    for (const one of known()) if (isScaledByDeployer(one)) looks.begin(one);
  };
  const looking = async (): Promise<void> => {
    while (!signal.aborted) {
      if (functions !== undefined) lookAtAll();
      await sleepUnlessAborted(Math.max(every, known().length * timePerFunction), signal);
    }
    await looks.ended();
    await reflector.done;
  };
  return {
    synced: () => functions !== undefined,
    figures: async (key) => (functions?.has(key) === true ? figures.of(key) : undefined),
    wakeAll: (isMeant) =>
      known()
        .filter(({ identity }) => isMeant(identity.namespace))
        .forEach(({ key }) => tryToWake(key)),
    done: looking(),
  };
}

/** Starts the check of a function, unless one is running. */
function oneAtATime(look: (one: TrackedFunction) => Promise<void>, log: Log) {
  const underWay = new Map<ObjectKey, Promise<void>>();
  return {
    begin(one: TrackedFunction): void {
      if (underWay.has(one.key)) return;
      const looked = look(one)
        .catch((error: unknown) => {
          // Logged once for the tenant, instead of four times a second for each of its functions.
          if (error instanceof TenantRedisError) return;
          log.warn({ err: error, function: one.key }, "Could not read the queues of a function");
        })
        .finally(() => underWay.delete(one.key));
      underWay.set(one.key, looked);
    },
    ended: () => Promise.all(underWay.values()),
  };
}

/** Reuses the figures of each function for {@link figuresTtl}. */
function cachedFigures(make: Scaler["figures"]) {
  const remembered = new Map<ObjectKey, () => ReturnType<Scaler["figures"]>>();
  return {
    of(key: ObjectKey): ReturnType<Scaler["figures"]> {
      const figure = remembered.get(key) ?? cacheWithTtl(() => make(key), figuresTtl);
      remembered.set(key, figure);
      return figure();
    },
    /** Forgets the figures of functions that are gone. */
    keep(functions: ReadonlyMap<ObjectKey, unknown>): void {
      for (const key of remembered.keys()) if (!functions.has(key)) remembered.delete(key);
    },
  };
}

/** The new decision as a text, which stays the same while the decision does. Undefined if the status has it already. */
async function newDecision(
  queues: FunctionQueues,
  one: TrackedFunction,
  now: Date,
): Promise<string | undefined> {
  const { scaling: before } = one.status;
  const idleAfter = parseDuration(scalingSettings(one.spec).idleAfter);
  const { wanted } = await computeFigures(queues, one);
  const after = rescale(before, wanted, { idleAfter, now });
  // Without `fewerSince`: until it is in the status, it is always now.
  const same = isDeepStrictEqual({ ...before }, { ...after });
  return same ? undefined : JSON.stringify([before ?? {}, after.wanted, after.fewer]);
}

/**
 * While a queue cannot be read, KEDA gets the number that it has set, which changes nothing. An error would be taken for zero
 * sometimes: KEDA 2.21's loop counts a trigger as not active, and without an error, if a failed request of the autoscaler
 * has closed its scalers meanwhile (`getScalerState` of pkg/scaling/scale_handler.go, ErrCacheClosed).
 */
async function figuresFor(
  queues: FunctionQueues,
  one: TrackedFunction,
  log: Log,
): Promise<ScalingFigures | HeldFigure> {
  try {
    return await computeFigures(queues, one);
  } catch (error) {
    const settings = scalingSettings(one.spec);
    if (settings.by !== "KEDA") throw error;
    // The Redis of a tenant is logged once for the tenant.
    if (!(error instanceof TenantRedisError))
      log.warn({ err: error, function: one.key }, "The number of Pods stays: the queues cannot be read");
    return { wanted: setByKeda(settings), held: true };
  }
}

async function computeFigures(
  queues: FunctionQueues,
  { identity, spec, status }: TrackedFunction,
): Promise<ScalingFigures> {
  const { concurrency, ...limits } = scalingSettings(spec);
  const load = await queues.load(identity, spec);
  const min = Math.max(limits.min, minPods({ spec, status }, load));
  const pods = status.replicas ?? 0;
  const { due, oldestDue, running } = load;
  return {
    wanted: podsWanted(load, { ...limits, min }, { concurrency, pods }),
    due,
    oldestDueSeconds: Math.floor(oldestDue / 1_000),
    running,
  };
}

/**
 * False for functions that KEDA scales, because KEDA requests the figures itself, and for functions without a permit so
 * far, which have neither Pods nor a queue.
 */
const isScaledByDeployer = ({ spec: { container, scaling }, status }: TrackedFunction): boolean =>
  container !== undefined && scaling?.by !== "KEDA" && status.scaling !== undefined;

/** Empty for a function that is being deleted, because a check would write to its queues, and for an invalid spec. */
function trackedFunction({ key, object, spec }: DeclaredFunction): readonly TrackedFunction[] {
  const { metadata } = object;
  if (spec === undefined || metadata.deletionTimestamp !== undefined) return [];
  const { namespace, name, uid } = metadata;
  const status = ReconcileFunction.status.safeParse(object["status"] ?? {}).data ?? {};
  return [{ key, identity: { namespace, name, uid }, spec, status }];
}
