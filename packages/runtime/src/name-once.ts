import type { Log, ObjectKey, WatchedInCode } from "@drover/controller";
import { type KubeClient, nameOf, refOf } from "@drover/kube";
import type { NamedKeys, Run, Verdict, Wake, WorkQueue } from "@drover/queue";
import { outcomeOf } from "./outcome.ts";

export interface NameParts {
  readonly watched: WatchedInCode;
  readonly client: KubeClient;
  /** The controller's queue, in which the named keys are woken. */
  readonly queue: Pick<WorkQueue, "wake">;
  /** Keys named by earlier runs of this run's queue. */
  readonly named: NamedKeys;
  readonly log: Log;
}

/**
 * One run of one watched object: calls the controller's code to get the keys that the object affects. Wakes these keys,
 * and the keys that it affected at the last run.
 *
 * Order, which is guaranteed: the keys are woken before they are stored, so that a crash in between wakes them twice
 * and loses none. Never throws: every end is an outcome.
 */
export async function nameOnce(
  { watched, client, queue, named, log }: NameParts,
  run: Run,
): Promise<Verdict> {
  const { key, signal, claim } = run;
  const ref = refOf(watched.kind);
  try {
    const object = await client.get(ref, key, { signal });
    const now = object === undefined ? [] : await watched.names({ key, object, log, signal });
    signal.throwIfAborted();
    const wakes = [...new Set([...(await named.of(key)), ...now])].map((one: ObjectKey): Wake => ({
      key: one,
      kind: nameOf(ref),
      resourceVersion: object?.metadata.resourceVersion ?? claim.versions[nameOf(ref)] ?? "0",
      reason: claim.reasons[0] ?? "Modified",
      class: claim.class,
      ...(claim.trace !== undefined && { trace: claim.trace }),
    }));
    await queue.wake(wakes);
    await named.remember(run, [...new Set(now)]);
    return { kind: object === undefined ? "gone" : "done" };
  } catch (error) {
    const { verdict } = outcomeOf(error, signal.aborted ? signal.reason : undefined);
    log.warn({ key, kind: nameOf(ref), err: error }, "Could not determine the keys that an object affects");
    return verdict;
  }
}
