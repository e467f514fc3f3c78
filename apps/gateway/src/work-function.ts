import {
  type CallResources,
  openCalledFunction,
  type PendingRuns,
  type WebhookFunction,
} from "@drover/calls";
import { type Milliseconds, queueDisplayName } from "@drover/controller";
import type { KubeClient } from "@drover/kube";
import {
  openReconciler,
  openWorker,
  type TenantRedis,
  type Worker,
  type WorkerProcess,
} from "@drover/runtime";
import { type CachedSecrets, cacheSecrets } from "@drover/webhook";
import { callingAgent } from "./calling-agent.ts";
import type { CallMetrics } from "./gateway-metrics.ts";
import { cacheTarget } from "./targets/cache-target.ts";
import { targetOf, type TargetRules } from "./targets/target.ts";
import { readWebhookSecrets } from "./webhook-secrets.ts";

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
export interface FunctionWorker {
  readonly fn: WebhookFunction;
  readonly queue: Worker["queue"];
  readonly secrets: CachedSecrets;
  /** Fires when the connection to its queue's Redis is closed for good. */
  readonly gone: AbortSignal;
  /** Takes no new key from the moment of the call, lets the calls in progress end within the grace, and closes all. */
  stop(grace: Milliseconds): Promise<void>;
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
  const { settings, controllerFor } = openCalledFunction({
    calling,
    targetAt: (path) => targetCache({ ...fn, path }, parts),
    measured: (call) => measured(parts, fn, call),
  });
  const reconciler = openReconciler({
    name: controller,
    for: fn.for,
    client,
    log,
    concurrency: fn.concurrency,
    scalesToZero: fn.scalesToZero,
    isWokenByOthers: fn.isWokenByOthers,
    controllerFor,
  });
  const ended = { message: "Called", fields: { function: fn.queue } };
  const worker = openWorker(
    {
      queue: fn.queue,
      redis,
      controller: { ...settings, concurrency: fn.concurrency },
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
      await worker.drain(grace);
      await worker.queue.close();
      calling.agent.destroy();
      await reconciler.close();
    },
  };
}

function callingParts(fn: WebhookFunction, parts: WorkerResources): CallResources {
  const { client, pending, complete } = parts;
  return {
    fn,
    pending,
    complete,
    source: "/drover/gateway",
    now: Date.now,
    agent: callingAgent(fn.url?.startsWith("https:") ? "https:" : "http:", fn.concurrency),
    secrets: cacheSecrets(
      () => readWebhookSecrets(client, fn),
      () => performance.now(),
      secretsTtl,
    ),
    target: targetCache(fn, parts),
  };
}

const targetCache = (fn: WebhookFunction, { rules }: WorkerResources): CallResources["target"] =>
  cacheTarget(
    (signal) => targetOf(fn, rules, signal),
    () => performance.now(),
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
