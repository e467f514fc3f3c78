import type { Milliseconds } from "@drover/controller";
import type { WorkQueue } from "@drover/queue";
import { TenantRedisError } from "@drover/runtime";
import type { Audience, CachedSecrets } from "@drover/webhook";
import { audienceOf } from "@drover/calls";
import type { WebhookFunction } from "@drover/calls";
import { type FunctionWorker, workFunction, type WorkerResources } from "./work-function.ts";

/** Processes the keys of all functions that are called over HTTP. */
export interface Gateway {
  /**
   * Sets the functions that exist now. Starts and stops the workers of functions that have changed; others are not
   * affected.
   */
  register(functions: readonly WebhookFunction[]): void;
  queues(): readonly WorkQueue[];
  /** A message for each Redis that cannot be used, so that the keys of its functions are not taken. */
  notes(): readonly string[];
  /** The secrets of a function that is called over HTTP; undefined for other functions. */
  secretsOf(audience: Audience): CachedSecrets | undefined;
  /** Takes no new keys, and lets the calls in progress end within the grace. */
  close(): Promise<void>;
}

export interface GatewayOptions extends WorkerResources {
  /** Time for calls in progress to end, when their function changes or the gateway stops. */
  readonly grace: Milliseconds;
  /** Default: `workFunction`. */
  readonly work?: typeof workFunction;
}

/** Time between two attempts to use a Redis that could not be used. */
const retryInterval: Milliseconds = 500;

/**
 * A function that changes gets a new worker at once, while calls of its old worker come to their end: leases keep the
 * two apart. A function with a Redis that cannot be used gets its worker when the Redis can be used; other functions do
 * not wait for it.
 */
export function openGateway({ grace, work = workFunction, ...parts }: GatewayOptions): Gateway {
  const working = new Map<string, FunctionWorker>();
  const ending = new Map<FunctionWorker, Promise<void>>();
  const absent = new Map<string, string>();
  let wanted = new Map<string, WebhookFunction>();
  const end = (worker: FunctionWorker): void => {
    working.delete(worker.fn.queue);
    const ended = worker.stop(grace).catch((error: unknown) => {
      parts.log.warn(
        { function: worker.fn.queue, err: error },
        "Could not give back the keys of a function that is no longer called; their leases end within seconds",
      );
    });
    ending.set(worker, ended);
    void ended.finally(() => ending.delete(worker));
  };
  const begin = (fn: WebhookFunction): void => {
    try {
      const worker = work(fn, parts);
      working.set(fn.queue, worker);
      worker.gone.addEventListener("abort", () => working.get(fn.queue) === worker && end(worker));
      absent.delete(fn.queue);
      parts.log.info({ function: fn.queue }, "Taking keys");
    } catch (error) {
      if (!(error instanceof TenantRedisError)) throw error;
      absent.set(fn.queue, error.message);
    }
  };
  const beginAll = (): void => {
    for (const fn of wanted.values()) if (!working.has(fn.queue)) begin(fn);
  };
  const beginning = setInterval(beginAll, retryInterval);
  return {
    register(functions) {
      wanted = new Map(functions.map((fn) => [fn.queue, fn]));
      for (const worker of working.values()) {
        const next = wanted.get(worker.fn.queue);
        if (next === undefined || !isSameFunction(next, worker.fn)) end(worker);
      }
      for (const queue of absent.keys()) if (!wanted.has(queue)) absent.delete(queue);
      beginAll();
    },
    queues: () => [...working.values()].map(({ queue }) => queue),
    notes: () => [...new Set(absent.values())],
    secretsOf({ name, uid }) {
      // Also those of a worker that is stopping: its calls may still be completed.
      const worker = [...working.values(), ...ending.keys()].find(({ fn }) => {
        const audience = audienceOf(fn);
        return audience.name === name && audience.uid === uid;
      });
      return worker?.secrets;
    },
    async close() {
      clearInterval(beginning);
      for (const worker of working.values()) end(worker);
      await Promise.all(ending.values());
    },
  };
}

/** Schemas are left out: all functions have the same ones. */
const isSameFunction = (a: WebhookFunction, b: WebhookFunction): boolean =>
  comparableText(a) === comparableText(b);
const comparableText = ({ for: { apiVersion, kind, plural, scope }, ...rest }: WebhookFunction): string =>
  JSON.stringify([{ apiVersion, kind, plural, scope }, rest]);
