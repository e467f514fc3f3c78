import type { Milliseconds } from "@drover/controller";
import type { WorkQueue } from "@drover/queue";
import { TenantRedisError } from "@drover/runtime";
import type { Audience, RememberedSecrets } from "@drover/webhook";
import { audienceOf } from "./calls/call-function.ts";
import type { WebhookFunction } from "./webhook-function.ts";
import { type FunctionWorker, workFunction, type WorkingParts } from "./work-function.ts";

/** Works off the keys of all functions that are called. */
export interface Gateway {
  /** These functions there are now. What changed starts and stops; nothing else notices. */
  register(functions: readonly WebhookFunction[]): void;
  queues(): readonly WorkQueue[];
  /** Functions whose keys are not taken, since their Redis is not there, in words. */
  notes(): readonly string[];
  /** The secrets of a function that is called. */
  secretsOf(audience: Audience): RememberedSecrets | undefined;
  /** Takes no new keys, and lets the calls under way end within the grace. */
  close(): Promise<void>;
}

export interface GatewayOptions extends WorkingParts {
  /** How long calls under way may take to end, when their function changes or the gateway stops. */
  readonly grace: Milliseconds;
  /** Default: `workFunction`. */
  readonly work?: typeof workFunction;
}

/** How often a Redis that is not there is asked for again. */
const again: Milliseconds = 500;

/**
 * A function that changes is worked on anew at once, while calls that were made as it was before come to their end:
 * leases keep the two apart. One whose Redis is not there is worked on when it is; others do not wait for it.
 */
export function openGateway({ grace, work = workFunction, ...parts }: GatewayOptions): Gateway {
  const working = new Map<string, FunctionWorker>();
  const ending = new Map<FunctionWorker, Promise<void>>();
  const absent = new Map<string, string>();
  let wanted = new Map<string, WebhookFunction>();
  const end = (worker: FunctionWorker): void => {
    working.delete(worker.fn.queue);
    const ended = worker.stop(grace).catch((error: unknown) => {
      parts.log.warn({ function: worker.fn.queue, err: error }, "Could not stop taking keys of a function");
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
  const beginning = setInterval(beginAll, again);
  return {
    register(functions) {
      wanted = new Map(functions.map((fn) => [fn.queue, fn]));
      for (const worker of working.values()) {
        const next = wanted.get(worker.fn.queue);
        if (next === undefined || !isSame(next, worker.fn)) end(worker);
      }
      for (const queue of absent.keys()) if (!wanted.has(queue)) absent.delete(queue);
      beginAll();
    },
    queues: () => [...working.values()].map(({ queue }) => queue),
    notes: () => [...new Set(absent.values())],
    secretsOf({ name, uid }) {
      // Also of one that comes to its end: its calls may still be completed.
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

/** Schemas are made of the other fields, and always the same. */
const isSame = (a: WebhookFunction, b: WebhookFunction): boolean => textOf(a) === textOf(b);
const textOf = ({ for: { apiVersion, kind, plural, scope }, ...rest }: WebhookFunction): string =>
  JSON.stringify([{ apiVersion, kind, plural, scope }, rest]);
