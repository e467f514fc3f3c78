import type { Kind, ReconcileContext, Resource } from "@drover/controller";
import type { KubeClient } from "@drover/kube";

/** What a workload's controller takes from the process that it runs in. */
export interface WorkloadParts {
  /** The process's client: it is asked for in every run. */
  readonly client: () => KubeClient;
  readonly now?: () => Date;
}

/** What all steps of a run share. */
export interface WorkloadStep<R extends Resource> {
  /** It writes only while the run holds its key. */
  readonly client: KubeClient;
  readonly now: () => Date;
  readonly context: ReconcileContext<R>;
}

export const stepOf = <R extends Resource>(
  { client, now = () => new Date() }: WorkloadParts,
  context: ReconcileContext<R>,
): WorkloadStep<R> => ({ client: client().guarded(context.guard), now, context });

/** For a function's declaration. */
export const unconnected: WorkloadParts = {
  client: () => {
    throw new Error("This is the function's declaration: only its process has a client.");
  },
};

/** Wakes the owners that would adopt an object of the kind. */
export const orphansOf = (kind: Kind) => ({
  ...{ kind, changed: ["metadata.labels", "metadata.ownerReferences"] },
  names: { selectedBy: "spec.selector" },
});
