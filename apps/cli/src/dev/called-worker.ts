import { openCalledFunction, type WebhookFunction } from "@drover/calls";
import type { Log } from "@drover/controller";
import type { KubeClient } from "@drover/kube";
import type { RedisConnection } from "@drover/queue";
import { type DevSession, openReconciler, openWorker } from "@drover/runtime";
import { localCalls } from "../called/called-function.ts";

export interface CalledWorkerOptions {
  readonly fn: WebhookFunction;
  /** Where the function runs. */
  readonly url: URL;
  /** The secret that it verifies. */
  readonly secret: string;
  readonly client: KubeClient;
  readonly redis: RedisConnection;
  /** The session in a cluster: only its objects are run. */
  readonly session: DevSession | undefined;
  readonly log: Log;
}

/** How long calls in progress may take to end. */
const grace = 2_000;

/** Takes the keys of a function that is called, and calls it, as the gateway does. Resolves in `close` when all have ended. */
export function workCalled({
  fn,
  url,
  secret,
  client,
  redis,
  session,
  log,
}: CalledWorkerOptions): AsyncDisposable {
  const calls = localCalls({ fn, url, secrets: [secret], source: "/drover/dev" });
  const { settings, controllerFor } = openCalledFunction(calls);
  const reconciler = openReconciler({
    name: fn.controller,
    for: fn.for,
    client,
    log,
    concurrency: fn.concurrency,
    isWokenByOthers: fn.isWokenByOthers,
    session,
    controllerFor,
  });
  const worker = openWorker(
    {
      queue: fn.queue,
      redis,
      controller: { ...settings, concurrency: fn.concurrency },
      log,
      times: {},
      runs: { settled: () => undefined },
      version: 0,
      ended: { message: "Called" },
    },
    reconciler.reconcile,
  );
  return {
    async [Symbol.asyncDispose]() {
      await worker.drain(grace);
      await worker.queue.close();
      calls.calling.agent.destroy();
      await reconciler.close();
    },
  };
}
