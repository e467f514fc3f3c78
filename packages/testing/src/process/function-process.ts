import type { Controller, Milliseconds, ObjectKey } from "@drover/controller";
import { connect, type KubeClient } from "@drover/kube";
import type { Run } from "@drover/queue";
import { type CalledUnderTest, startFunction, type FunctionUnderTest } from "../function-under-test.ts";
import type { ProcessListeners } from "./proxies.ts";
import { immediateRetryTimers } from "./immediate-retry-timers.ts";

/** A process of the function, from its start until it is killed or the test ends. */
export interface FunctionProcess {
  readonly controllers: readonly Controller[];
  readonly called: CalledUnderTest | undefined;
  /** The controller of this name, for one run. */
  readonly controllerFor: (name: string, run: Run) => Controller;
  readonly client: KubeClient;
  /** Resolves when it is killed; its run in progress never ends. */
  readonly died: Promise<undefined>;
  readonly isDead: () => boolean;
  kill(): void;
  /** True if the last run of a key asked for a requeue. */
  readonly requestsRequeue: (controller: string, key: ObjectKey) => boolean;
  /** Closes its client; the calls of a dead process end here. */
  close(): Promise<void>;
}

export interface FunctionProcessOptions {
  readonly start: FunctionUnderTest;
  readonly listeners: ProcessListeners;
  readonly now: () => Date;
  /** The timeout of a request. */
  readonly requestTimeout: Milliseconds;
}

export async function startFunctionProcess(options: FunctionProcessOptions): Promise<FunctionProcess> {
  const { start, listeners, now, requestTimeout } = options;
  const { cluster, outside } = listeners;
  const client = await connect({
    ...cluster,
    userAgent: "function-under-test",
    requestTimeout,
    timers: immediateRetryTimers,
  });
  const begun = await startFunction(start, { client, outside, now });
  const asking = new Set<string>();
  const death = Promise.withResolvers<undefined>();
  let isDead = false;
  const noting = (controller: Controller): Controller => ({
    ...controller,
    async reconcile(context) {
      const result = await controller.reconcile(context);
      const name = `${controller.name} ${context.key}`;
      if (result?.requeueAfter === undefined) asking.delete(name);
      else asking.add(name);
      return result;
    },
  });
  const { called } = begun;
  return {
    controllers: begun.controllers,
    called,
    controllerFor: (name, run) => noting(called?.controllerFor(run) ?? controllerIn(begun.controllers, name)),
    client,
    died: death.promise,
    isDead: () => isDead,
    kill() {
      isDead = true;
      death.resolve(undefined);
      listeners.close();
    },
    requestsRequeue: (controller, key) => asking.has(`${controller} ${key}`),
    async close() {
      await client.close();
      await begun.close?.();
    },
  };
}

function controllerIn(controllers: readonly Controller[], name: string): Controller {
  const found = controllers.find((controller) => controller.name === name);
  if (found !== undefined) return found;
  throw new Error(
    `The controller ${name} is not there in the function's next process: make the same ones every time.`,
  );
}
