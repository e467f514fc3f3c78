import {
  type Log,
  type Milliseconds,
  milliseconds,
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
  pause,
  recent,
  TenantRedisError,
} from "@drover/runtime";
import { isDeepStrictEqual } from "node:util";
import type { FunctionQueues, ScaledFunction } from "./function-queues.ts";
import { leastPods } from "./function-rollout.ts";
import { podsWanted } from "./pods-wanted.ts";
import { repeatedWakes } from "./repeated-wakes.ts";
import { rescale } from "./rescale.ts";
import { scalingOf } from "./scaling-of.ts";

/** Looks at every function's queue, and has those reconciled that want another number of Pods. */
export interface Scaler {
  readonly synced: () => boolean;
  /**
   * What an autoscaler asks: how many Pods a function should have now, and why. Undefined for one that there is not.
   * Asked again within a second, it answers the same from memory.
   */
  readonly figure: (key: ObjectKey) => Promise<Figure | undefined>;
  /** Has every function of these namespaces reconciled. */
  readonly wakeAll: (isMeant: (namespace: string | undefined) => boolean) => void;
  /** Resolves when it has stopped: its signal ends it. */
  readonly done: Promise<void>;
}

/** What a function's queues say of how many Pods it should have. */
export interface Figure {
  readonly wanted: number;
  readonly due: number;
  readonly oldestDueSeconds: number;
  readonly running: number;
}

/** How long a figure is answered from memory: to make one takes scripts in Redis. */
const figureHolds: Milliseconds = 1_000;

/**
 * How much time each function has to itself: a look takes Redis a tenth of it. So where there are more than a few hundred, each is
 * looked at less often, and Redis has time for others.
 */
const share: Milliseconds = 1;

/** A function as the scaler sees it. */
interface Scaled extends ScaledFunction {
  readonly key: ObjectKey;
  readonly status: ReconcileFunctionStatus;
}

export interface ScalerOptions {
  readonly client: KubeClient;
  readonly queues: FunctionQueues;
  /** Has a function reconciled. */
  readonly wake: (key: ObjectKey) => Promise<void>;
  /** The queue of functions themselves. No bridge wakes the deployer for its own registration before that is permitted. */
  readonly own: QueueName;
  readonly every: Milliseconds;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/**
 * It decides nothing: with the same figures, what it wakes comes to the same decision, and acts. So several may look, and
 * one that is killed is missed by nobody.
 */
export function startScaler({ client, queues, wake, own, every, log, signal }: ScalerOptions): Scaler {
  let functions: ReadonlyMap<ObjectKey, Scaled> | undefined;
  const wakes = repeatedWakes();
  let isOwnSeen = false;
  const figures = rememberedFigures(async (key) => {
    const one = functions?.get(key);
    return one && figureOf(queues, one);
  });
  const reflector = followDeclaredFunctions({
    client,
    log,
    signal,
    onChange(declared) {
      const now = new Map(declared.flatMap(scaledOf).map((one) => [one.key, one]));
      const registration = declared.find(({ object }) => queueOf(object.metadata) === own);
      if (registration !== undefined && !isOwnSeen) tryToWake(registration.key);
      isOwnSeen = registration !== undefined;
      for (const key of functions?.keys() ?? []) if (!now.has(key)) wakes.settled(key);
      figures.keep(now);
      functions = now;
    },
  });
  const tryToWake = (key: ObjectKey): void =>
    void wake(key).catch((error: unknown) => {
      log.warn({ err: error, function: key }, "Could not have a function looked at");
    });
  const known = (): readonly Scaled[] => [...(functions?.values() ?? [])];
  const look = async (one: Scaled): Promise<void> => {
    const now = new Date();
    const decision = await newDecision(queues, one, now);
    if (decision === undefined) wakes.settled(one.key);
    else if (wakes.isDue(one.key, decision, now.getTime())) await wake(one.key);
  };
  const looks = oneAtATime(look, log);
  /** A function whose Redis is slow is looked at less often, and keeps no other waiting. */
  const lookAtAll = (): void => {
    queues.keep(known());
    for (const one of known()) if (isScaledByUs(one)) looks.begin(one);
  };
  const looking = async (): Promise<void> => {
    while (!signal.aborted) {
      if (functions !== undefined) lookAtAll();
      await pause(Math.max(every, known().length * share), signal);
    }
    await looks.ended();
    await reflector.done;
  };
  return {
    synced: () => functions !== undefined,
    figure: async (key) => (functions?.has(key) === true ? figures.of(key) : undefined),
    wakeAll: (isMeant) =>
      known()
        .filter(({ identity }) => isMeant(identity.namespace))
        .forEach(({ key }) => tryToWake(key)),
    done: looking(),
  };
}

/** Looks at a function, unless it is being looked at. */
function oneAtATime(look: (one: Scaled) => Promise<void>, log: Log) {
  const underWay = new Map<ObjectKey, Promise<void>>();
  return {
    begin(one: Scaled): void {
      if (underWay.has(one.key)) return;
      const looked = look(one)
        .catch((error: unknown) => {
          // That is said once for the tenant, not four times a second for each of its functions.
          if (error instanceof TenantRedisError) return;
          log.warn({ err: error, function: one.key }, "Could not see how much there is to do");
        })
        .finally(() => underWay.delete(one.key));
      underWay.set(one.key, looked);
    },
    ended: () => Promise.all(underWay.values()),
  };
}

/** Figures by function, each for as long as it holds. */
function rememberedFigures(make: (key: ObjectKey) => Promise<Figure | undefined>) {
  const remembered = new Map<ObjectKey, () => Promise<Figure | undefined>>();
  return {
    of(key: ObjectKey): Promise<Figure | undefined> {
      const figure = remembered.get(key) ?? recent(() => make(key), figureHolds);
      remembered.set(key, figure);
      return figure();
    },
    /** Forgets those of functions that are gone. */
    keep(functions: ReadonlyMap<ObjectKey, unknown>): void {
      for (const key of remembered.keys()) if (!functions.has(key)) remembered.delete(key);
    },
  };
}

/** Another number of Pods than its status tells of, in words that stay the same for as long as it does. */
async function newDecision(queues: FunctionQueues, one: Scaled, now: Date): Promise<string | undefined> {
  const { scaling: before } = one.status;
  const idleAfter = milliseconds(scalingOf(one.spec).idleAfter);
  const { wanted } = await figureOf(queues, one);
  const after = rescale(before, wanted, { idleAfter, now });
  // Not since when fewer would do: until that is written down, it is always now.
  const same = isDeepStrictEqual({ ...before }, { ...after });
  return same ? undefined : JSON.stringify([before ?? {}, after.wanted, after.fewer]);
}

async function figureOf(queues: FunctionQueues, { identity, spec, status }: Scaled): Promise<Figure> {
  const { concurrency, ...limits } = scalingOf(spec);
  const load = await queues.load(identity, spec);
  const min = Math.max(limits.min, leastPods({ spec, status }, load));
  const pods = status.replicas ?? 0;
  const { due, oldestDue, running } = load;
  return {
    wanted: podsWanted(load, { ...limits, min }, { concurrency, pods }),
    due,
    oldestDueSeconds: Math.floor(oldestDue / 1_000),
    running,
  };
}

/** Not what an autoscaler asks for by itself, and nothing of a function that was never permitted: it has no Pods, nor a queue. */
const isScaledByUs = ({ spec: { container, scaling }, status }: Scaled): boolean =>
  container !== undefined && scaling?.by !== "KEDA" && status.scaling !== undefined;

/** Of a function that stays: the queues of one that is being deleted are not looked at, for that writes to them. */
function scaledOf({ key, object, spec }: DeclaredFunction): readonly Scaled[] {
  const { metadata } = object;
  if (spec === undefined || metadata.deletionTimestamp !== undefined) return [];
  const { namespace, name, uid } = metadata;
  const status = ReconcileFunction.status.safeParse(object["status"] ?? {}).data ?? {};
  return [{ key, identity: { namespace, name, uid }, spec, status }];
}
