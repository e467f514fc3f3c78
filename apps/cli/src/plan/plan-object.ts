import type { CalledFunction } from "@drover/calls";
import { type ChildOutcome, openComposer } from "@drover/compose";
import {
  type Controller,
  objectKey,
  type ObjectKey,
  type OutsideWrite,
  type Resource,
  silentLog,
} from "@drover/controller";
import {
  type DryRunWrite,
  type KubeClient,
  type KubeObject,
  openDryRun,
  refOf,
  resourceNameOf,
} from "@drover/kube";
import type { Run, RunOutcome } from "@drover/queue";
import { reconcileOnce, type ReconcileOptions } from "@drover/runtime";
import { randomUUID } from "node:crypto";
import { type FieldChange, fieldChanges } from "./field-changes.ts";

/** The change of one object by a run, or the reason why there is none. */
export interface PlannedChange {
  readonly kind: string;
  readonly key: ObjectKey;
  /**
   * `waits`: this run does not change it, though it is not as declared. `keep`: it is no longer declared, and stays.
   */
  readonly action:
    | "nothing"
    | "create"
    | "change"
    | "recreate"
    | "adopt"
    | "delete"
    | "release"
    | "keep"
    | "waits"
    | "refused";
  /** The reason, as the run reports it. */
  readonly why?: string;
  readonly fields: readonly FieldChange[];
}

/** The plan for one object: the changes of one run. */
export interface ObjectPlan {
  readonly kind: string;
  readonly key: ObjectKey;
  /** The changes in their order. The object's own, of its status and its finalizer, are the last. */
  readonly changes: readonly PlannedChange[];
  /** The writes outside of the cluster, if the function records them. */
  readonly outside: readonly OutsideWrite[];
  /** Why the run would fail, as a message. */
  readonly failure?: string;
  /** Why the plan ends before the run does. */
  readonly end?: string;
  /** True if the object is paused, so that no run starts. */
  readonly isPaused?: true;
}

type OnChildren = (outcomes: readonly ChildOutcome[]) => void;

export interface PlanOptions {
  readonly controller: Controller;
  /** The function in a run of an object, if it is called over HTTP. */
  readonly called?: ((object: KubeObject, onChildren: OnChildren) => Promise<CalledFunction>) | undefined;
  readonly client: KubeClient;
  readonly object: KubeObject;
  /** False if the object is not stored like this: then it is as it would be. */
  readonly isStored: boolean;
  readonly now?: () => Date;
}

/**
 * Plans one object: runs the function with a client that stores nothing, and lists what it would have written.
 *
 * It is the run of a process that has just started, by the same code. The run holds no lease, so that nothing is written
 * outside of the cluster: the plan ends there, unless the function records these writes. Runs that only prepare the next
 * one by their status are followed by it, since external resources are changed in two runs.
 */
export async function planObject({
  controller,
  called,
  client,
  object,
  isStored,
  ...clock
}: PlanOptions): Promise<ObjectPlan> {
  const ref = refOf(controller.for);
  const key = objectKey(object.metadata);
  const dryRun = openDryRun(client, { ref, object, isStored });
  const outside: OutsideWrite[] = [];
  let children: readonly ChildOutcome[] = [];
  const onChildren: OnChildren = (outcomes) => (children = outcomes);
  const run: Run = {
    key,
    token: `plan-${randomUUID()}`,
    claim: { fails: 0, reasons: ["Planned"], class: "change", versions: {} },
    signal: new AbortController().signal,
    hasLease: () => dryRun.stop("The run would then write outside of the cluster."),
  };
  const options: ReconcileOptions<Resource> = {
    controller:
      called === undefined
        ? withOutcomes(controller, onChildren)
        : (await called(object, onChildren)).controllerFor(run),
    client: dryRun.client,
    announce: () => undefined,
    log: silentLog,
    outsidePlan: { record: (write) => outside.push(write), stop: dryRun.stop },
    ...clock,
  };
  let outcome = await reconcileOnce(options, run);
  const isPrepared = (): boolean =>
    outside.length === 0 &&
    dryRun.end() === undefined &&
    dryRun.writes.every((write) => idOf(write) === idOf({ ref, key }));
  for (let runs = 1; runs < mostRuns && isAtOnce(outcome) && isPrepared(); runs++)
    outcome = await reconcileOnce(options, run);
  const end = dryRun.end();
  const failure = end === undefined ? failureIn(outcome) : undefined;
  return {
    kind: ref.kind,
    key,
    changes: changesOf({ ref, key }, dryRun.writes, children),
    outside,
    ...(end !== undefined && { end }),
    ...(failure !== undefined && { failure }),
    ...(outcome.kind === "paused" && { isPaused: true }),
  };
}

/** A run that only writes the status, and is to be followed at once, prepares the next one. */
const mostRuns = 4;
const isAtOnce = (outcome: RunOutcome): boolean =>
  outcome.kind === "done" && outcome.after !== undefined && outcome.after < 1_000;

/** The controller with an observer of its children, if it declares children. */
function withOutcomes(controller: Controller, onChildren: OnChildren): Controller {
  const { compose } = controller;
  if (compose === undefined) return controller;
  const composer = openComposer(controller, onChildren);
  return { ...controller, reconcile: (context) => composer.reconcile(context, compose) };
}

function failureIn(outcome: RunOutcome): string | undefined {
  switch (outcome.kind) {
    case "retry":
    case "terminal":
      return outcome.error;
    case "conflict":
      return "An object was changed by others at the same time. Plan again.";
    case "gone":
    case "done":
    case "wait":
    case "throttled":
    case "paused":
    case "interrupted":
      return undefined;
  }
}

type Target = Pick<DryRunWrite, "ref" | "key">;
const idOf = ({ ref, key }: Target): string => `${resourceNameOf(ref)} ${key}`;

function changesOf(
  own: Target,
  writes: readonly DryRunWrite[],
  children: readonly ChildOutcome[],
): readonly PlannedChange[] {
  const ofOwn = writes.filter((write) => idOf(write) === idOf(own));
  const ids = new Set([own, ...children].map(idOf));
  return [
    ...children.map((child) =>
      childChange(
        child,
        writes.filter((write) => idOf(write) === idOf(child)),
      ),
    ),
    ...writes.filter((write) => !ids.has(idOf(write))).flatMap(writtenChange),
    ...ownChange(ofOwn),
  ];
}

const actions = {
  nothing: "nothing",
  created: "create",
  changed: "change",
  adopted: "adopt",
  refused: "refused",
  waits: "waits",
  deleted: "delete",
  released: "release",
  kept: "keep",
} as const satisfies Record<ChildOutcome["did"], PlannedChange["action"]>;

/**
 * A child that is deleted, and is created again by a later run, has a refused apply before its deletion. One that is changed
 * only when it is deleted may get its owner or Drover's marks.
 */
function childChange({ ref, key, did, why }: ChildOutcome, writes: readonly DryRunWrite[]): PlannedChange {
  const isRecreated = did === "waits" && writes.some(({ verb }) => verb === "delete");
  const done = writes.filter(({ refusal }) => refusal === undefined);
  const { refusal } = writes.find((write) => write.refusal !== undefined) ?? {};
  const reason = isRecreated ? (refusal?.serverMessage ?? why) : why;
  const isMarked = did === "waits" && !isRecreated && done.length > 0;
  return {
    kind: ref.kind,
    key,
    action: isRecreated ? "recreate" : isMarked ? "change" : actions[did],
    ...(reason !== undefined && { why: reason }),
    fields: fieldChanges(done[0]?.before, done.at(-1)?.after, { status: false }),
  };
}

/** A change that the function makes itself. */
function writtenChange(write: DryRunWrite): readonly PlannedChange[] {
  const { ref, key, before, after, refusal, subresource } = write;
  const target = { kind: ref.kind, key };
  if (refusal !== undefined) {
    return [{ ...target, action: "refused", why: refusal.message, fields: [] }];
  }
  const fields = fieldChanges(before, after, { status: subresource === "status" });
  if (before !== undefined && after !== undefined && fields.length === 0) return [];
  return [
    {
      ...target,
      action: before === undefined ? "create" : after === undefined ? "delete" : "change",
      fields,
    },
  ];
}

/** The writes of the object itself, as one change. */
function ownChange(writes: readonly DryRunWrite[]): readonly PlannedChange[] {
  const refused = writes.filter(({ refusal }) => refusal !== undefined).flatMap(writtenChange);
  const [first] = writes;
  const last = writes.findLast(({ refusal }) => refusal === undefined);
  if (first === undefined || last === undefined) return refused;
  const { kind } = first.ref;
  if (last.after === undefined) return [...refused, { kind, key: first.key, action: "delete", fields: [] }];
  const fields = [true, false].flatMap((status) => fieldChanges(first.before, last.after, { status }));
  return fields.length === 0 ? refused : [...refused, { kind, key: first.key, action: "change", fields }];
}
