import {
  type Child,
  type Compose,
  composeContext,
  type ComposeResult,
  type Controller,
  fieldManagerOf,
  observedObjects,
  type OwnedKind,
  parentText,
  parseDuration,
  readyCondition,
  type ReconcileContext,
  type ReconcileResult,
  type Resource,
  RetryAfterError,
  RetryError,
} from "@drover/controller";
import { isControlledBy, type KubeObject } from "@drover/kube";
import type { ApplyContext } from "./apply-child.ts";
import { type AppliedWaves, applyWaves } from "./apply-waves.ts";
import { titleOf } from "./child.ts";
import { checkedChildren } from "./checked-children.ts";
import {
  announcementsOf,
  type ChildOutcome,
  childOutcomes,
  contestAfter,
  failureOf,
  readiness,
} from "./compose-outcome.ts";
import { childLabels, deletionOf } from "./marks.ts";
import { observeChildren } from "./observe-children.ts";
import { pruneChildren } from "./prune.ts";
import { readRelated } from "./read-related.ts";
import { type Comparison, openComparison } from "./satisfied.ts";

/** Keeps the children of the objects of one controller. */
export interface Composer<R extends Resource> {
  /** One run: finds the children, calls `compose` with them, and makes them as it declares. */
  reconcile(context: ReconcileContext<R>, compose: Compose<R>): Promise<ReconcileResult<R>>;
  /**
   * True if children may have no owner reference although they are deleted with their parent: then the parent needs a
   * finalizer, and `finalize` when it is deleted.
   */
  readonly needsFinalizer: boolean;
  /**
   * Deletes or releases the children without owner reference, as their `deletion` says.
   *
   * @throws RetryAfterError while one of them still exists.
   */
  finalize(context: ReconcileContext<R>): Promise<void>;
}

/**
 * A composer, for callers that define the controller themselves.
 *
 * @param onChildren is called in every run, after its children were applied and pruned.
 */
export function openComposer<R extends Resource>(
  controller: ComposedController<R>,
  onChildren?: (outcomes: readonly ChildOutcome[]) => void,
): Composer<R> {
  const comparison = openComparison();
  return {
    reconcile: (context, compose) => composeOnce({ context, controller, comparison, onChildren }, compose),
    needsFinalizer: mayBeUnowned(controller.owns),
    finalize: (context) => removeUnowned({ context, controller, comparison }),
  };
}

/** True if children of these kinds may be where they cannot have an owner reference. */
export const mayBeUnowned = (owns: readonly OwnedKind[]): boolean =>
  owns.some(({ acrossNamespaces }) => acrossNamespaces === true);

type ComposedController<R extends Resource> = Pick<Controller<R>, "name" | "for" | "owns" | "watches">;

interface ComposeRun<R extends Resource> {
  readonly context: ReconcileContext<R>;
  readonly controller: ComposedController<R>;
  readonly comparison: Comparison;
  readonly onChildren?: ((outcomes: readonly ChildOutcome[]) => void) | undefined;
}

async function composeOnce<R extends Resource>(
  run: ComposeRun<R>,
  compose: Compose<R>,
): Promise<ReconcileResult<R>> {
  const { metadata, signal, announce } = run.context;
  const applying = applyContext(run);
  const [observed, related] = await Promise.all([
    observeChildren(applying),
    readRelated(run.context, run.controller),
  ]);
  const inNamespace = (objects: readonly KubeObject[]) => observedObjects(objects, metadata.namespace);
  const result = await compose(
    composeContext(run.context, {
      children: inNamespace([...observed.values()].map(({ object }) => object)),
      related: inNamespace(related),
    }),
  );
  signal.throwIfAborted();
  const desired = checkedChildren(applying, declaredIn(result));
  const applied = await applyWaves(applying, desired, observed);
  const isComplete =
    applied.later.length === 0 && applied.children.every(({ report }) => report.did !== "failed");
  const pruned = await pruneChildren(applying, desired, observed, isComplete);
  run.onChildren?.([...childOutcomes(applied), ...pruned.outcomes]);
  for (const each of announcementsOf(applied, pruned.outcomes)) announce(each);
  const failure = failureOf(applied) ?? pruned.failure;
  return { ...withConditions(run, result, applied), ...(failure !== undefined && { failure }) };
}

/** How soon a run looks again for children that do not go: the deletion of the last one causes a run in any case. */
const removalInterval = "1m" as const;

async function removeUnowned<R extends Resource>(run: ComposeRun<R>): Promise<void> {
  const applying = applyContext(run);
  const unowned = async () => {
    const observed = await observeChildren(applying, { isLive: true });
    return new Map(
      [...observed].filter(([, { object }]) => !isControlledBy(object.metadata, applying.metadata)),
    );
  };
  const { outcomes, failure } = await pruneChildren(applying, [], await unowned(), true);
  for (const each of announcementsOf({ children: [], later: [] }, outcomes)) run.context.announce(each);
  if (failure !== undefined) throw failure;
  const left = [...(await unowned()).values()].filter(({ object }) => deletionOf(object) === "Delete");
  if (left.length === 0) return;
  const titles = left.map(({ ref, object }) => titleOf(ref, object)).join(", ");
  throw new RetryAfterError(`These children are being deleted: ${titles}. Look at their finalizers.`, {
    after: removalInterval,
    reason: "ChildrenNotDeleted",
  });
}

/** @throws RetryError `InvalidResult`: JavaScript code may return anything. */
function declaredIn(result: { readonly children?: unknown } | undefined): readonly Child[] {
  if (Array.isArray(result?.children)) return result.children as readonly Child[];
  throw new RetryError("compose must return an object with a list of children, which may be empty.", {
    reason: "InvalidResult",
  });
}

function withConditions<R extends Resource>(
  { context: { status: before, now }, controller }: ComposeRun<R>,
  { status, conditions = [], requeueAfter }: ComposeResult<R>,
  applied: AppliedWaves,
): ReconcileResult<R> {
  // The status of a kind that others define is theirs.
  if (controller.for.foreign === true) return requeueAfter === undefined ? {} : { requeueAfter };
  const ready = conditions.some(({ type }) => type === readyCondition) ? [] : [readiness(applied)];
  const contest = contestAfter(applied, before.conditions, now());
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

const applyContext = <R extends Resource>({
  context,
  controller,
  comparison,
}: ComposeRun<R>): ApplyContext => ({
  client: context.client,
  metadata: context.metadata,
  owns: controller.owns,
  labels: childLabels(controller.name, context.metadata),
  parent: parentText(controller.for, context.metadata.name),
  parentElsewhere: parentText(controller.for, context.key),
  fieldManager: fieldManagerOf(controller.name),
  comparison,
  now: context.now,
  signal: context.signal,
});
