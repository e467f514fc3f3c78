import { fieldManagerOf } from "@drover/controller";
import type { RunCache, WriteGuard } from "@drover/kube";
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
 * the cached lists receive the outcome of every write.
 */
export function runGuard(
  run: Pick<Run, "hasLease">,
  controller: string,
  {
    reader,
    cache,
  }: { readonly reader: OptionalWriteObserver | undefined; readonly cache: RunCache | undefined },
): RunGuard {
  let hasWritten = false;
  const observers: readonly (OptionalWriteObserver | undefined)[] = [
    reader,
    cache?.observeWrite,
    () => (outcome) => void (hasWritten ||= outcome !== "refused"),
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
