import {
  type Child,
  type Compose,
  type ComposeContext,
  composeContext,
  type ComposeResult,
  type Controller,
  fieldManagerOf,
  isRelated,
  type Observed,
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
import { isControlledBy, type KubeObject, refOf, resourceNameOf } from "@drover/kube";
import type { ApplyContext } from "./apply-child.ts";
import { type AppliedWaves, applyWaves, waitsForNothing } from "./apply-waves.ts";
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
import { idPrefix, observeChildren } from "./observed/observe-children.ts";
import { pruneChildren } from "./prune.ts";
import { readRelated } from "./observed/read-related.ts";
import { recordedIn, recordElsewhere } from "./record-elsewhere.ts";
import { type Comparison, openComparison } from "./satisfied.ts";

/** Keeps the children of the objects of one controller. */
export interface Composer<R extends Resource> {
  /**
   * One run: finds the children, calls `compose` with them, and makes them as it declares.
   *
   * @param watches with the related kinds of this run. Default: those of the controller.
   */
  reconcile(
    context: ReconcileContext<R>,
    compose: Compose<R>,
    watches?: Controller<R>["watches"],
  ): Promise<ReconcileResult<R>>;
  /** The objects that exist for the run's object, as `compose` gets them. */
  observe(context: ReconcileContext<R>, watches?: Controller<R>["watches"]): Promise<Observed>;
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
  const runOf = (context: ReconcileContext<R>, watches = controller.watches): ComposeRun<R> => ({
    context,
    controller: { ...controller, watches },
    comparison,
    onChildren,
  });
  return {
    reconcile: (context, compose, watches) => composeOnce(runOf(context, watches), compose),
    async observe(context, watches) {
      const { observed } = await observe(runOf(context, watches));
      return observed;
    },
    needsFinalizer: mayBeUnowned(controller.owns),
    finalize: (context) => removeUnowned({ context, controller, comparison }),
  };
}

/** True if children of these kinds may be where they cannot have an owner reference. */
export const mayBeUnowned = (owns: readonly OwnedKind[]): boolean =>
  owns.some(({ acrossNamespaces }) => acrossNamespaces === true);

interface ComposedController<R extends Resource> extends Pick<
  Controller<R>,
  "name" | "for" | "owns" | "watches"
> {
  /** True for an object that it takes over, of those that the parent controls and that do not have Drover's labels. */
  readonly takesOver?: ApplyContext["takesOver"];
}

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
  const { signal, announce } = run.context;
  const { applying, observation, observed } = await observe(run);
  const { children } = observation;
  const noted = noting(composeContext(run.context, observed), run.controller);
  const result = await compose(noted.context);
  signal.throwIfAborted();
  const desired = checkedChildren(applying, declaredIn(result));
  const object = await recordElsewhere(applying, desired, observation);
  const applied = await applyWaves(applying, desired, children);
  const isComplete =
    applied.later.length === 0 && applied.children.every(({ report }) => report.did !== "failed");
  const pruned = await pruneChildren(applying, desired, children, isComplete);
  run.onChildren?.([...childOutcomes(applied), ...pruned.outcomes]);
  for (const each of announcementsOf(applied, pruned.outcomes)) announce(each);
  const failure = failureOf(applied) ?? pruned.failure;
  const isUnmoved = object === undefined && failure === undefined && pruned.outcomes.length === 0;
  const hasSeenOwnWrites = !noted.isUsed() && isUnmoved && waitsForNothing(applied);
  return {
    ...withConditions(run, result, applied),
    ...(failure !== undefined && { failure }),
    ...(object !== undefined && { object }),
    ...(hasSeenOwnWrites && { hasSeenOwnWrites }),
  };
}

/** The same context, and whether anything was read in it that the run may change. */
function noting<R extends Resource>(
  context: ComposeContext<R>,
  { owns, watches }: Pick<ComposedController<R>, "owns" | "watches">,
) {
  const owned = new Set(owns.map(({ kind }) => resourceNameOf(refOf(kind))));
  const mayBeChildren = watches.some((one) => isRelated(one) && owned.has(resourceNameOf(refOf(one.kind))));
  let isUsed = false;
  const note = <T>(value: T): T => {
    isUsed = true;
    return value;
  };
  const noted: ComposeContext<R> = {
    ...context,
    get children() {
      return note(context.children);
    },
    get status() {
      return note(context.status);
    },
    get object() {
      return note(context.object);
    },
    get related() {
      return mayBeChildren ? note(context.related) : context.related;
    },
  };
  return { context: noted, isUsed: () => isUsed };
}

async function observe<R extends Resource>(run: ComposeRun<R>) {
  const { context, controller } = run;
  const applying = applyContext(run);
  const [observation, related] = await Promise.all([
    observeChildren(applying),
    readRelated(context, controller),
  ]);
  const inNamespace = (objects: readonly KubeObject[]) =>
    observedObjects(objects, context.metadata.namespace);
  const observed: Observed = {
    children: inNamespace([...observation.children.values()].map(({ object }) => object)),
    related: inNamespace(related),
  };
  return { applying, observation, observed };
}

/** How soon a run looks again for children that do not go: the deletion of the last one causes a run in any case. */
const removalInterval = "1m" as const;

async function removeUnowned<R extends Resource>(run: ComposeRun<R>): Promise<void> {
  const applying = applyContext(run);
  const unowned = async () => {
    const { children, notServed } = await observeChildren(applying, { isLive: true });
    const all = [...children].filter(([, { object }]) => !isControlledBy(object.metadata, applying.metadata));
    return { children: new Map(all), notServed };
  };
  const { outcomes, failure } = await pruneChildren(applying, [], (await unowned()).children, true);
  for (const each of announcementsOf({ children: [], later: [] }, outcomes)) run.context.announce(each);
  if (failure !== undefined) throw failure;
  const { children, notServed } = await unowned();
  const left = [...children.values()].filter(({ object }) => deletionOf(object) === "Delete");
  const after = removalInterval;
  if (left.length > 0) {
    const titles = left.map(({ ref, key }) => `${ref.kind} ${key}`).join(", ");
    throw new RetryAfterError(`These children are being deleted: ${titles}. Look at their finalizers.`, {
      after,
      reason: "ChildrenNotDeleted",
    });
  }
  for (const ref of notServed) {
    const unread = [...applying.recorded].filter((id) => id.startsWith(idPrefix(ref)));
    if (unread.length === 0 || !(await applying.client.isServed(ref, { signal: applying.signal }))) continue;
    throw new RetryAfterError(
      `The API server does not serve ${ref.version} of the kind of these children: ${unread.join(", ")}. Install a CRD that ` +
        "serves it, or a version of the function that owns another version.",
      { after, reason: "ChildNotServed" },
    );
  }
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
  ref: refOf(controller.for),
  key: context.key,
  metadata: context.metadata,
  recorded: recordedIn(context.metadata),
  owns: controller.owns,
  labels: childLabels(controller.name, context.metadata),
  parent: parentText(controller.for, context.metadata.name),
  parentElsewhere: parentText(controller.for, context.key),
  fieldManager: fieldManagerOf(controller.name),
  comparison,
  takesOver: controller.takesOver,
  now: context.now,
  signal: context.signal,
});
