import type { Announcement, Kind, ReconcileContext, Resource } from "@drover/controller";

/** The clock of a workload's controller. */
export type Clock = () => Date;

/** The common parts of all steps of a run. */
export interface WorkloadRunContext<R extends Resource> extends Pick<ReconcileContext<R>, "client"> {
  readonly now: Clock;
  readonly context: ReconcileContext<R>;
}

export const runContextOf = <R extends Resource>(
  context: ReconcileContext<R>,
  now: Clock = () => new Date(),
): WorkloadRunContext<R> => ({ client: context.client, now, context });

/** A function that publishes Events about the object of a run, with this action. */
export const publishAs =
  (action: string) =>
  (
    { context: { announce } }: { readonly context: Pick<ReconcileContext<Resource>, "announce"> },
    reason: string,
    note: string,
    type: Announcement["type"] = "Normal",
  ): void =>
    announce({ type, reason, note, action });

/** Wakes the owners that would adopt an object of the kind. */
export const orphanWatch = (kind: Kind) => ({
  kind,
  changed: ["metadata.labels", "metadata.ownerReferences"],
  names: { selectedBy: "spec.selector" },
});
