import {
  ConflictError,
  type Controller,
  type ControllerDefinition,
  controllerFrom,
  fieldManagerOf,
  finalizerOf,
  parseDuration,
  readyCondition,
  type ReconcileContext,
  type ReconcileResult,
  type Resource,
} from "@drover/controller";
import { keyOf, type KubeObject, refOf, type ResourceRef } from "@drover/kube";
import type { ApplyContext } from "./apply-child.ts";
import { type AppliedWaves, applyWaves } from "./apply-waves.ts";
import { checkedChildren, type Parent } from "./checked-children.ts";
import { type Child, childId, type DesiredChild, type ObservedChild } from "./child.ts";
import { announcementsOf, contestAfter, correctionsOf, readiness, failureOf } from "./compose-outcome.ts";
import { childLabels, deletionOf } from "./marks.ts";
import { observeChildren } from "./observe-children.ts";
import { outlivesParent, pruneChildren, release } from "./prune.ts";
import { type Comparison, openComparison } from "./satisfied.ts";

/** The children of an object as they exist, of all kinds that the controller owns. */
export interface ObservedChildren {
  readonly all: readonly KubeObject[];
  /** A child by its kind and name, in the namespace of its parent. */
  get(ref: ResourceRef, name: string): KubeObject | undefined;
}

/** The argument of `compose`: the object as it was read, and what exists for it. It has no client: compose only decides. */
export interface ComposeContext<R extends Resource> extends Pick<
  ReconcileContext<R>,
  "key" | "metadata" | "spec" | "status" | "object" | "log" | "now" | "signal"
> {
  readonly children: ObservedChildren;
}

/** What should exist for an object. */
export interface ComposeResult<R extends Resource> extends Pick<
  ReconcileResult<R>,
  "status" | "conditions" | "requeueAfter"
> {
  /** All children. Those that were declared before and are left out now are deleted, or as their `deletion` says. */
  readonly children: readonly Child[];
}

/** An author's definition of a controller that declares children. */
export interface ComposeDefinition<R extends Resource> extends Omit<
  ControllerDefinition<R>,
  "reconcile" | "finalize" | "needsFinalizer" | "whileDeleting"
> {
  readonly owns: NonNullable<ControllerDefinition<R>["owns"]>;
  /**
   * Declares the children of an object. It is called at any time, for any reason, and has no effects of its own.
   *
   * Drover creates and changes them by server-side apply, as the field manager of the controller: fields that others have
   * set and compose does not declare are left alone. If `conditions` has no Ready, Ready is true when all children are
   * ready.
   */
  compose(context: ComposeContext<R>): Promise<ComposeResult<R>> | ComposeResult<R>;
}

/**
 * Defines a controller that declares children, and leaves it to Drover to create, change and delete them.
 *
 * A run that finds everything as declared writes nothing; with `copies` of the owned kinds and of the object itself, it
 * often reads nothing either.
 *
 * @throws InvalidControllerError with the field, the problem and the accepted values.
 */
export function composeController<R extends Resource>(definition: ComposeDefinition<R>): Controller<R> {
  const { compose, ...settings } = definition;
  const comparison = openComparison();
  const controller: Controller<R> = controllerFrom<R>({
    ...settings,
    reconcile: (context) => composeOnce({ context, controller, comparison }, compose),
    finalize: (context) => releaseAll({ context, controller, comparison }),
    // The finalizer is added when a child is declared that may outlive its parent.
    needsFinalizer: () => false,
  });
  return controller;
}

interface ComposeRun<R extends Resource> {
  readonly context: ReconcileContext<R>;
  readonly controller: Controller<R>;
  readonly comparison: Comparison;
}

async function composeOnce<R extends Resource>(
  run: ComposeRun<R>,
  compose: ComposeDefinition<R>["compose"],
): Promise<ReconcileResult<R>> {
  const { context } = run;
  const parent = parentOf(run);
  const observed = await observeChildren(context.client, parent, context.signal);
  const { key, metadata, spec, status, object, log, now, signal } = context;
  const children = observedChildren(observed, metadata.namespace);
  const result = await compose({ key, metadata, spec, status, object, log, now, signal, children });
  signal.throwIfAborted();
  const desired = checkedChildren(parent, result.children);
  await requireFinalizer(run, desired);
  const applying = applyContext(run, parent);
  const applied = await applyWaves(applying, desired, observed);
  const failure = failureOf(applied);
  const isComplete = failure === undefined && applied.later.length === 0;
  const pruned = isComplete ? await pruneChildren(applying, desired, observed) : [];
  for (const each of announcementsOf(applied, pruned)) context.announce(each);
  if (failure !== undefined) throw failure;
  return withConditions(run, result, applied);
}

function withConditions<R extends Resource>(
  { context: { status: before, now } }: ComposeRun<R>,
  { status, conditions = [], requeueAfter }: ComposeResult<R>,
  applied: AppliedWaves,
): ReconcileResult<R> {
  const ready = conditions.some(({ type }) => type === readyCondition) ? [] : [readiness(applied)];
  const contest = contestAfter(correctionsOf(applied), before.conditions, now());
  const again = earliest(requeueAfter, contest?.left);
  return {
    ...(status !== undefined && { status }),
    conditions: [...ready, ...conditions, ...(contest === undefined ? [] : [contest.condition])],
    ...(again !== undefined && { requeueAfter: again }),
  };
}

function earliest(requeueAfter: ReconcileResult<Resource>["requeueAfter"], left: number | undefined) {
  if (left === undefined) return requeueAfter;
  const wanted = requeueAfter === undefined ? left : Math.min(left, parseDuration(requeueAfter));
  return `${Math.max(1_000, Math.ceil(wanted))}ms` as const;
}

/** The parent gets the finalizer before the first child that outlives it exists. */
async function requireFinalizer<R extends Resource>(
  { context, controller }: ComposeRun<R>,
  desired: readonly DesiredChild[],
): Promise<void> {
  const finalizer = finalizerOf(controller.name);
  const { finalizers = [], uid, resourceVersion } = context.metadata;
  if (desired.every(({ deletion }) => deletion === "Delete") || finalizers.includes(finalizer)) return;
  const body = { metadata: { uid, resourceVersion, finalizers: [...finalizers, finalizer] } };
  await context.client.patch(
    refOf(controller.for),
    context.key,
    { type: "merge", body },
    { signal: context.signal },
  );
  throw new ConflictError(
    `The finalizer ${finalizer} was added; the run is repeated with the changed object.`,
  );
}

/** Releases the children that outlive their parent; the garbage collector deletes all others with it. */
async function releaseAll<R extends Resource>(run: ComposeRun<R>): Promise<void> {
  const parent = parentOf(run);
  const observed = await observeChildren(run.context.client, parent, run.context.signal);
  for (const child of observed.values()) {
    const deletion = deletionOf(child.object);
    if (deletion !== "Delete" && outlivesParent(child))
      await release(applyContext(run, parent), child, deletion);
  }
}

const parentOf = <R extends Resource>({ context, controller }: ComposeRun<R>): Parent => ({
  metadata: context.metadata,
  owns: controller.owns,
  labels: childLabels(controller.name, context.metadata),
});

const applyContext = <R extends Resource>(
  { context: { client, metadata, now, signal }, controller, comparison }: ComposeRun<R>,
  { labels }: Parent,
): ApplyContext => ({
  client,
  metadata,
  labels,
  fieldManager: fieldManagerOf(controller.name),
  comparison,
  now,
  signal,
});

function observedChildren(
  observed: ReadonlyMap<string, ObservedChild>,
  namespace: string | undefined,
): ObservedChildren {
  return {
    all: [...observed.values()].map(({ object }) => object),
    get(ref, name) {
      const metadata = ref.namespaced && namespace !== undefined ? { namespace, name } : { name };
      return observed.get(childId({ ref, key: keyOf({ metadata }) }))?.object;
    },
  };
}
