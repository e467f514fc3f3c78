import type { Kind, ReconcileContext, Resource } from "@drover/controller";

/** The clock of a workload's controller. */
export type Now = () => Date;

/** The common parts of all steps of a run. */
export interface WorkloadStep<R extends Resource> extends Pick<ReconcileContext<R>, "client"> {
  readonly now: Now;
  readonly context: ReconcileContext<R>;
}

export const stepOf = <R extends Resource>(
  context: ReconcileContext<R>,
  now: Now = () => new Date(),
): WorkloadStep<R> => ({ client: context.client, now, context });

/** Wakes the owners that would adopt an object of the kind. */
export const orphansOf = (kind: Kind) => ({
  kind,
  changed: ["metadata.labels", "metadata.ownerReferences"],
  names: { selectedBy: "spec.selector" },
});
