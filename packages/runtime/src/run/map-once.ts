import type { Log, ObjectKey, WatchedInCode } from "@drover/controller";
import { type KubeClient, resourceNameOf, refOf } from "@drover/kube";
import type { MappedKeys, Run, RunOutcome, Wake, WorkQueue } from "@drover/queue";
import { outcomeOfError } from "./error-outcome.ts";

export interface MapOnceOptions {
  readonly watched: WatchedInCode;
  readonly client: KubeClient;
  /** The controller's queue, in which the named keys are woken. */
  readonly queue: Pick<WorkQueue, "wake">;
  /** Keys named by earlier runs of this run's queue. */
  readonly named: MappedKeys;
  readonly log: Log;
}

/**
 * One run of one watched object: calls the controller's code to get the keys that the object affects. Wakes these keys,
 * and the keys that it affected at the last run.
 *
 * Order, which is guaranteed: the keys are woken before they are stored, so that a crash in between wakes them twice
 * and loses none. Never throws: every end is an outcome.
 */
export async function mapOnce(
  { watched, client, queue, named, log }: MapOnceOptions,
  run: Run,
): Promise<RunOutcome> {
  const { key, signal, claim } = run;
  const ref = refOf(watched.kind);
  try {
    const object = await client.get(ref, key, { signal });
    const now = object === undefined ? [] : await watched.names({ key, object, log, signal });
    signal.throwIfAborted();
    const wakes = [...new Set([...(await named.get(key)), ...now])].map((one: ObjectKey): Wake => ({
      key: one,
      kind: resourceNameOf(ref),
      resourceVersion: object?.metadata.resourceVersion ?? claim.versions[resourceNameOf(ref)] ?? "0",
      reason: claim.reasons[0] ?? "Modified",
      class: claim.class,
      ...(claim.trace !== undefined && { trace: claim.trace }),
    }));
    await queue.wake(wakes);
    await named.store(run, [...new Set(now)]);
    return { kind: object === undefined ? "gone" : "done" };
  } catch (error) {
    const { outcome } = outcomeOfError(error, signal.aborted ? signal.reason : undefined);
    log.warn(
      { key, kind: resourceNameOf(ref), err: error },
      "Could not determine the keys that an object affects",
    );
    return outcome;
  }
}
