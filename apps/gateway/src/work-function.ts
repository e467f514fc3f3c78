import { type Composer, openComposer } from "@drover/compose";
import {
  type Controller,
  controllerFrom,
  type Milliseconds,
  type Observed,
  type ReconcileContext,
  type Resource,
  queueDisplayName,
} from "@drover/controller";
import type { KubeClient } from "@drover/kube";
import type { Run } from "@drover/queue";
import {
  openReconciler,
  openWorker,
  type TenantRedis,
  type Worker,
  type WorkerProcess,
} from "@drover/runtime";
import { type CallType, type CachedSecrets, cacheSecrets } from "@drover/webhook";
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { callFunction, type CallResources } from "./calls/call-function.ts";
import { clampWait, type Success } from "./calls/interpret.ts";
import { readWebhookSecrets } from "./calls/webhook-secrets.ts";
import type { PendingRuns } from "./completions/pending-runs.ts";
import type { CallMetrics } from "./gateway-metrics.ts";
import { callHook } from "./metacontroller/call-hook.ts";
import { type CallHook, hookedController } from "./metacontroller/hooked-controller.ts";
import type { MetacontrollerHooks } from "./metacontroller/hooks.ts";
import { cacheTarget } from "./targets/cache-target.ts";
import { targetOf, type TargetRules } from "./targets/target.ts";
import { definitionOf, type WebhookFunction } from "./webhook-function.ts";

/** The resources that the workers of all functions share. */
export interface WorkerResources extends WorkerProcess {
  readonly client: KubeClient;
  /** Finds the Redis of each queue. */
  readonly redisFor: TenantRedis["redisFor"];
  readonly rules: TargetRules;
  readonly pending: PendingRuns;
  readonly complete: string | undefined;
  readonly calls: CallMetrics;
}

/** Processes the keys of one function. */
export interface FunctionWorker extends Worker {
  readonly fn: WebhookFunction;
  readonly secrets: CachedSecrets;
  /** Fires when the connection to its queue's Redis is closed for good. */
  readonly gone: AbortSignal;
}

/** A changed secret is used after this time at most, and sooner if an answer is signed with a new one. */
const secretsTtl: Milliseconds = 5_000;

/** @throws TenantRedisError while the Redis of its queue cannot be used. */
export function workFunction(fn: WebhookFunction, parts: WorkerResources): FunctionWorker {
  const { log, times, runs } = parts;
  const { redis, gone } = parts.redisFor(fn.queue);
  const { controller } = fn;
  // Reads and writes for the function use its own permissions and its own name.
  const client = parts.client.as({ namespace: fn.namespace, name: controller });
  const calling = callingParts(fn, parts);
  const definition = definitionOf(fn);
  const own = controllerFrom({ ...definition, reconcile: () => Promise.resolve(undefined) });
  const hooks = fn.metacontroller;
  const composer = fn.composes ? openComposer({ ...own, takesOver: hooks?.takeOver === true }) : undefined;
  const callHook = hooks && hookCaller(hooks, calling, parts);
  const reconciler = openReconciler({
    name: controller,
    for: fn.for,
    client,
    log,
    scalesToZero: fn.scalesToZero,
    isWokenByOthers: fn.isWokenByOthers,
    controllerFor(run) {
      const call = functionCaller(calling, run, Date.now() + own.timeout, parts);
      const needsFinalizer = fn.finalizes || composer?.needsFinalizer === true;
      const base = controllerFrom({ ...definition, ...actions(fn, needsFinalizer, call) });
      if (composer === undefined) return base;
      if (hooks === undefined || callHook === undefined) return composed(base, composer, call);
      return hookedController(base, { fn, hooks, composer, call: callHook });
    },
  });
  const ended = { message: "Called", fields: { function: fn.queue } };
  const worker = openWorker(
    {
      queue: fn.queue,
      redis,
      controller: { ...own, concurrency: fn.concurrency },
      log,
      times,
      runs,
      version: fn.revision,
      ended,
    },
    reconciler.reconcile,
  );
  return {
    fn,
    queue: worker.queue,
    secrets: calling.secrets,
    gone,
    async stop(grace) {
      await worker.stop(grace);
      calling.agent.destroy();
      await reconciler.close();
    },
  };
}

function callingParts(fn: WebhookFunction, parts: WorkerResources): CallResources {
  const { client, pending, complete } = parts;
  // Idle connections are kept until the server closes them: `timeout: 0` sets no limit of the gateway's own.
  const options = { keepAlive: true, timeout: 0, maxFreeSockets: fn.concurrency, keepAliveMsecs: 1_000 };
  const isTls = fn.url?.startsWith("https:") ?? false;
  return {
    fn,
    pending,
    complete,
    source: "/drover/gateway",
    now: Date.now,
    agent: isTls ? new HttpsAgent(options) : new HttpAgent(options),
    secrets: cacheSecrets(
      () => readWebhookSecrets(client, fn),
      () => performance.now(),
      secretsTtl,
    ),
    target: targetCache(fn, parts),
  };
}

/** Calls hooks of Metacontroller, each at its own path. */
function hookCaller(
  { paths }: MetacontrollerHooks,
  { fn, agent, now }: CallResources,
  parts: WorkerResources,
): CallHook {
  const targets = new Map(
    Object.entries(paths).map(([hook, path]) => [hook, targetCache({ ...fn, path }, parts)]),
  );
  return (hook, context, request) => {
    const target = targets.get(hook);
    if (target === undefined) throw new Error(`There is no ${hook} hook.`);
    const hookParts = { target, agent, now, scalesToZero: fn.scalesToZero };
    return measured(parts, fn, () => callHook(hookParts, context, request));
  };
}

const targetCache = (fn: WebhookFunction, { rules }: WorkerResources): CallResources["target"] =>
  cacheTarget(
    (signal) => targetOf(fn, rules, signal),
    () => performance.now(),
  );

type Caller = (type: CallType, context: ReconcileContext<Resource>, observed?: Observed) => Promise<Success>;

const functionCaller =
  (calling: CallResources, run: Run, deadline: number, parts: WorkerResources): Caller =>
  (type, context, observed) =>
    measured(parts, calling.fn, () =>
      callFunction(calling, {
        type,
        run,
        context,
        deadline,
        ...(observed && { children: observed.children.all, related: observed.related.all }),
      }),
    );

async function measured<T>(
  { calls }: WorkerResources,
  { queue }: WebhookFunction,
  call: () => Promise<T>,
): Promise<T> {
  const begun = performance.now();
  let failure: unknown;
  try {
    return await call();
  } catch (error) {
    failure = error ?? new Error("nothing");
    throw error;
  } finally {
    calls.called(queueDisplayName(queue), (performance.now() - begun) / 1_000, failure);
  }
}

/**
 * A controller of a function that declares children: the gateway makes them, and deletes those that the garbage collector
 * does not.
 */
const composed = (base: Controller, composer: Composer<Resource>, call: Caller): Controller => ({
  ...base,
  async finalize(context) {
    await base.finalize(context);
    await composer.finalize(context);
  },
  reconcile: (context) =>
    composer.reconcile(context, async (observed) => {
      const { children = [], ...result } = await call("dev.drover.compose.v2", context, observed);
      return { children, ...resultOf(result) };
    }),
});

/** A function's success, as the runtime expects it of a controller. */
const resultOf = ({ status, conditions, account, requeueAfter }: Success) => ({
  ...(status !== undefined && { status }),
  ...(conditions !== undefined && { conditions }),
  ...(account !== undefined && { account }),
  ...(requeueAfter !== undefined && { requeueAfter: clampWait(requeueAfter) }),
});

/** The controller's actions. The runtime calls them after it has read the object and added the finalizer. */
function actions({ finalizes }: WebhookFunction, needsFinalizer: boolean, call: Caller) {
  const reconcile = async (context: ReconcileContext<Resource>) => {
    return resultOf(await call("dev.drover.reconcile.v2", context));
  };
  if (!needsFinalizer) return { reconcile };
  const finalize = async (context: ReconcileContext<Resource>): Promise<void> => {
    if (finalizes) await call("dev.drover.finalize.v2", context);
  };
  return { reconcile, finalize };
}
