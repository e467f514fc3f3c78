import { sleepUnlessAborted } from "@drover/timers";
import { type FunctionIdentity, type Milliseconds, objectKey, ReconcileFunction } from "@drover/controller";
import { refOf } from "@drover/kube";
import type { Process } from "../process/run-process.ts";

/** The ReconcileFunction that a process is configured to run for. */
export interface ConfiguredFunction {
  readonly namespace: string;
  readonly name: string;
  /** Default: the uid of the object in the API server. */
  readonly uid?: string | undefined;
}

/** The ReconcileFunction that a process ran for was deleted. */
export class FunctionGoneError extends Error {
  override readonly name = "FunctionGoneError";
}

/** Time between two reads of the object. */
const pollInterval: Milliseconds = 5_000;

/**
 * The function that a process runs for. Without a uid, the process waits until an object with this name exists, and
 * reports that in `/readyz`. If that object is deleted later, the process fails, so that it is started again: an object
 * that is created under the same name has other queues.
 *
 * @throws the reason of `stopping` if the process is asked to stop before the object exists.
 */
export async function resolveIdentity(
  { namespace, name, uid }: ConfiguredFunction,
  process: Pick<Process, "client" | "log" | "stopping" | "readiness" | "fail">,
  every: Milliseconds = pollInterval,
): Promise<FunctionIdentity> {
  if (uid !== undefined) return { namespace, name, uid };
  const { log, stopping, readiness, fail } = process;
  const key = objectKey({ namespace, name });
  let problem: string | undefined = `the ReconcileFunction ${key} is not read yet`;
  readiness("function", () => problem);
  const read = () => process.client.get(refOf(ReconcileFunction), key, { signal: stopping });
  for (;;) {
    stopping.throwIfAborted();
    const found = await read().catch(asError);
    if (found !== undefined && !(found instanceof Error)) {
      const identity = { namespace, name, uid: found.metadata.uid };
      problem = undefined;
      void watch(identity);
      return identity;
    }
    const before: string | undefined = problem;
    problem =
      found === undefined
        ? `there is no ReconcileFunction ${key}. Apply it, or correct DROVER_FUNCTION`
        : `the ReconcileFunction ${key} cannot be read: ${found.message}`;
    if (problem !== before) log.warn({ function: key }, `Waiting: ${problem}`);
    await sleepUnlessAborted(every, stopping);
  }

  async function watch(identity: FunctionIdentity): Promise<void> {
    for (;;) {
      await sleepUnlessAborted(every, stopping);
      if (stopping.aborted) return;
      // A failed read does not prove that the object was replaced.
      const found = await read().catch(asError);
      if (found instanceof Error || found?.metadata.uid === identity.uid) continue;
      fail(
        new FunctionGoneError(
          `The ReconcileFunction ${key} that this process ran for (uid ${identity.uid}) was deleted. Start the process ` +
            "again to run for a new object of this name: it waits until that exists.",
        ),
      );
      return;
    }
  }
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
