import { fieldManagerOf, type Log } from "@drover/controller";
import { resourceNameOf, type RunCache, type WriteGuard } from "@drover/kube";
import type { Run } from "@drover/queue";

/** The lease of a run is over, so the run must not write. */
class NotHeldError extends Error {
  override readonly name = "NotHeldError";
  constructor() {
    super("the run's lease is over; another worker may hold the key.");
  }
}

type WriteObserver = NonNullable<WriteGuard["observeWrite"]>;

/** An observer of writes. It returns undefined for writes that it ignores. */
type OptionalWriteObserver = (...written: Parameters<WriteObserver>) => ReturnType<WriteObserver> | undefined;

/** The guard of a run's client. */
export interface RunGuard extends WriteGuard {
  /** True if the run has written to the cluster, or may have. */
  hasWritten(): boolean;
}

/**
 * Lets a run write while it holds its lease, as the field manager of its controller. The reader of the run's object and
 * the cached lists receive the outcome of every write, and the log names the object at debug: `drover dev` prints it.
 */
export function runGuard(
  run: Pick<Run, "hasLease" | "key">,
  controller: string,
  {
    reader,
    cache,
    log,
  }: {
    readonly reader: OptionalWriteObserver | undefined;
    readonly cache: RunCache | undefined;
    readonly log: Pick<Log, "debug">;
  },
): RunGuard {
  let hasWritten = false;
  const observers: readonly (OptionalWriteObserver | undefined)[] = [
    reader,
    cache?.observeWrite,
    (ref, written) => (outcome) => {
      if (outcome === "refused") return;
      hasWritten = true;
      log.debug({ key: run.key, wrote: `${resourceNameOf(ref)} ${written}` }, "Wrote");
    },
  ];
  return {
    beforeWrite() {
      if (!run.hasLease()) throw new NotHeldError();
    },
    observeWrite(ref, key) {
      const reports = observers.map((observe) => observe?.(ref, key));
      return (outcome) => {
        for (const report of reports) report?.(outcome);
      };
    },
    cache,
    fieldManager: fieldManagerOf(controller),
    hasWritten: () => hasWritten,
  };
}
