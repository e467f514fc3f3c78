import type { Log, ObjectKey, WatchedInCode } from "@drover/controller";
import { type KubeClient, nameOf, refOf } from "@drover/kube";
import type { NamedKeys, Run, Verdict, Wake, WorkQueue } from "@drover/queue";
import { outcomeOf } from "./outcome.ts";

export interface NameParts {
  readonly watched: WatchedInCode;
  readonly client: KubeClient;
  /** The controller's, whose keys are named. */
  readonly queue: Pick<WorkQueue, "wake">;
  /** Of the queue that the run is of. */
  readonly named: NamedKeys;
  readonly log: Log;
}

/**
 * One run of one watched object: ask the controller's code whom it concerns, and wake them, and those whom it concerned
 * the last time.
 *
 * Order, which is the promise: they are woken before it is remembered who they are, so that a crash in between wakes
 * twice and forgets nobody. Never throws: every end is a verdict.
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
    log.warn({ key, kind: nameOf(ref), err: error }, "Could not tell whom an object concerns");
    return verdict;
  }
}
