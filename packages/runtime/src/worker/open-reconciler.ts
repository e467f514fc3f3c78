import type { Announcement, Controller, Log, Resource } from "@drover/controller";
import { eventRecorder, type KubeClient, refOf } from "@drover/kube";
import type { Run, RunOutcome } from "@drover/queue";
import { hostname } from "node:os";
import { reconcileOnce, type ReconcileOptions } from "../run/reconcile-once.ts";

export interface ReconcilerOptions<R extends Resource> extends Pick<
  ReconcileOptions<R>,
  "scalesToZero" | "isWokenByOthers" | "session"
> {
  readonly name: string;
  readonly for: R;
  readonly client: KubeClient;
  readonly log: Log;
  /** Runs at once. While more than half of them are in progress, Events wait: users wait for objects first. */
  readonly concurrency: number;
  /** The controller that reconciles in this run. */
  readonly controllerFor: (run: Run) => Controller<R>;
}

/** Runs keys of a controller, and writes the Events of the runs. */
export interface Reconciler {
  readonly reconcile: (run: Run) => Promise<RunOutcome>;
  /** Ends the writing of Events. */
  close(): Promise<void>;
}

export function openReconciler<R extends Resource>(options: ReconcilerOptions<R>): Reconciler {
  const { name, for: resource, client, log, concurrency, controllerFor, ...settings } = options;
  let running = 0;
  const isBusy = (): boolean => running > concurrency / 2;
  const recorder = eventRecorder({
    client,
    log,
    controller: `drover.dev/${name}`,
    instance: hostname(),
    isBusy,
  });
  const ref = refOf(resource);
  const announce: ReconcileOptions<R>["announce"] = ({ metadata }, announcement: Announcement) =>
    recorder.record({ regarding: { ref, metadata }, ...announcement });
  return {
    async reconcile(run) {
      running += 1;
      try {
        return await reconcileOnce(
          { ...settings, controller: controllerFor(run), client, log, announce },
          run,
        );
      } finally {
        running -= 1;
        if (!isBusy()) recorder.idle();
      }
    },
    close: () => recorder.close(),
  };
}
