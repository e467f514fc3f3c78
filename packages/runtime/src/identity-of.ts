import { type FunctionIdentity, type Milliseconds, objectKey, ReconcileFunction } from "@drover/controller";
import { refOf } from "@drover/kube";
import { pause } from "./pause.ts";
import type { Process } from "./run-process.ts";

/** A ReconcileFunction, as a process is configured to run for it. */
export interface RegisteredFunction {
  readonly namespace: string;
  readonly name: string;
  /** Left out: that of the object that the API server has. */
  readonly uid?: string | undefined;
}

/** The ReconcileFunction that a process ran for was deleted. */
export class FunctionGoneError extends Error {
  override readonly name = "FunctionGoneError";
}

/** Between two reads of the object. */
const usualPace: Milliseconds = 5_000;

/**
 * The function that a process runs for. Without a uid it is the object of that name: the process waits until there is one,
 * and says so in `/readyz`; and it fails, to be started again, when that object is deleted, for one that is made again under
 * the same name has other queues.
 *
 * @throws the reason of `stopping` when the process is asked to stop before the object is there.
 */
export async function identityOf(
  { namespace, name, uid }: RegisteredFunction,
  process: Pick<Process, "client" | "log" | "stopping" | "readiness" | "fail">,
  every: Milliseconds = usualPace,
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
    await pause(every, stopping);
  }

  async function watch(identity: FunctionIdentity): Promise<void> {
    for (;;) {
      await pause(every, stopping);
      if (stopping.aborted) return;
      // While the API server does not answer, nothing says that the object is another one.
      const found = await read().catch(asError);
      if (found instanceof Error || found?.metadata.uid === identity.uid) continue;
      fail(
        new FunctionGoneError(
          `The ReconcileFunction ${key} that this process ran for (uid ${identity.uid}) was deleted. Start the process ` +
            "again: it then runs for the one that is made under this name.",
        ),
      );
      return;
    }
  }
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
