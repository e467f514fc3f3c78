import {
  type ApplyOptions,
  ConflictError,
  messageOf,
  type ObjectClient,
  parentAnnotation,
} from "@drover/controller";
import { canonicalJson } from "@drover/json";
import {
  type ApiError,
  controllerOf,
  type FieldConflict,
  fieldConflicts,
  isApiError,
  isControlledBy,
  type KubeObject,
  managedFieldsOf,
} from "@drover/kube";
import { type DesiredChild, type ObservedChild, titleOf } from "./child.ts";
import { isImmutable } from "./immutable.ts";
import {
  asCorrected,
  type Correction,
  lastCorrection,
  nextCorrection,
  waitUntilCorrection,
  withCorrection,
} from "./correction.ts";
import { isRetained, marksPatch, parentIn, withoutMarks } from "./marks.ts";
import {
  hasLabels,
  isElsewhere,
  isMarked,
  isOfAnotherController,
  type Parent,
  parentNamedIn,
} from "./parent.ts";
import type { Comparison } from "./satisfied.ts";

/** How a run has changed a child, or why it has not. */
export type ChildReport =
  | { readonly did: "nothing" | "created" | "changed" | "adopted"; readonly object: KubeObject }
  /** Others had changed it; `by` are the fields that other managers had set. */
  | { readonly did: "corrected"; readonly object: KubeObject; readonly by: readonly FieldConflict[] }
  /** Others have changed it again, and it was set back a short while ago: a later run does that. */
  | { readonly did: "contested"; readonly by: readonly FieldConflict[] }
  /** It is not as declared yet, and no request can help now. */
  | { readonly did: "waits"; readonly why: string }
  /** The child cannot be made so: `isFinal` if trying again cannot help. */
  | { readonly did: "failed"; readonly why: string; readonly reason: string; readonly isFinal: boolean };

/** One run for a parent: what its children are applied with. */
export interface ApplyContext extends Parent {
  readonly client: ObjectClient;
  /** The field manager of the run's client. */
  readonly fieldManager: string;
  readonly comparison: Comparison;
  /** True for an object that is to become a child, of those that the parent controls and that have no labels of Drover. */
  readonly takesOver?: ((object: KubeObject) => boolean) | undefined;
  readonly now: () => Date;
  readonly signal: AbortSignal;
}

/**
 * Makes one child as it is declared, with one request at most if it exists and is changed by its declaration, and none
 * if it is as declared.
 *
 * An object that is not a child of this parent is never changed: the apply that creates a child is refused if there is an
 * object of its name, and the one that adopts an object if that has changed since it was read. The run is then repeated.
 *
 * @throws ApiError for errors that are not about this child: the server is busy, or away.
 */
export async function applyChild(
  context: ApplyContext,
  child: DesiredChild,
  observed: ObservedChild | undefined,
): Promise<ChildReport> {
  try {
    const found = observed === undefined ? await create(context, child) : { live: observed.object };
    if ("created" in found) return { did: "created", object: found.created };
    const { live } = found;
    if (live.metadata.deletionTimestamp !== undefined)
      return { did: "waits", why: "it is being deleted, and is created again afterwards" };
    if (!isOurs(context, live)) return await adopt(context, child, live);
    return await update(context, child, live);
  } catch (error) {
    return failure(error);
  }
}

/**
 * Creates a child that was not observed. Returns the object of its name instead, if there is one: of another owner, or a
 * child that has lost its labels.
 */
async function create(
  context: ApplyContext,
  child: DesiredChild,
): Promise<{ readonly created: KubeObject } | { readonly live: KubeObject }> {
  try {
    return { created: await apply(context, child, { version: noVersion, force: true }) };
  } catch (error) {
    const live = isApiError(error, "Conflict") ? await read(context, child) : undefined;
    if (live === undefined) throw error;
    return { live };
  }
}

const read = (
  { client, signal }: ApplyContext,
  { ref, key }: DesiredChild,
): Promise<KubeObject | undefined> => client.get(ref, key, { signal });

/** Deletes a child as it was read: one that has changed since causes a Conflict, and the run is repeated. */
export async function deleteChild(
  { client, signal }: Pick<ApplyContext, "client" | "signal">,
  { ref, key, object }: ObservedChild,
  propagationPolicy: "Background" | "Foreground",
): Promise<void> {
  const { uid, resourceVersion } = object.metadata;
  await client.delete(ref, key, { uid, resourceVersion, propagationPolicy, signal });
}

/**
 * True for a child of this controller, also if it has lost its labels: then the fields that were applied show it. The parent
 * may also control objects that another controller has made for it.
 */
function isOurs(context: ApplyContext, live: KubeObject): boolean {
  if (isMarked(context, live)) return true;
  if (!isControlledBy(live.metadata, context.metadata)) return false;
  // Copies of objects have no managed fields: then the labels decide.
  return hasLabels(context, live) || hasOwnFields(context, live) || context.takesOver?.(live) === true;
}

/** True if this controller has applied fields of the object. */
const hasOwnFields = ({ fieldManager }: ApplyContext, live: KubeObject): boolean =>
  managedFieldsOf(live).some(({ manager }) => manager === fieldManager);

async function adopt(context: ApplyContext, child: DesiredChild, live: KubeObject): Promise<ChildReport> {
  if (!mayAdopt(context, child, live)) return taken(context, live);
  const version = live.metadata.resourceVersion;
  return { did: "adopted", object: await apply(context, child, { live, version, force: true }) };
}

function mayAdopt(context: ApplyContext, child: DesiredChild, live: KubeObject): boolean {
  if (controllerOf(live.metadata) !== undefined)
    return (
      child.adopt && isControlledBy(live.metadata, context.metadata) && !isOfAnotherController(context, live)
    );
  const parent = parentIn(live);
  if (parent === undefined) return child.adopt;
  return parent === parentNamedIn(context, live.metadata.namespace) && isRetained(live, context.labels);
}

function taken(context: ApplyContext, live: KubeObject): ChildReport {
  return {
    did: "failed",
    reason: "ChildNameTaken",
    isFinal: false,
    why: `an object of this name exists already, and ${takenBy(context, live)} give the child another name.`,
  };
}

/** The owner of a taken object, and what to do: without names of another namespace, which the parent's users may not see. */
function takenBy(context: ApplyContext, live: KubeObject): string {
  const isHidden = isElsewhere(context, live.metadata.namespace);
  const controller = controllerOf(live.metadata);
  if (isControlledBy(live.metadata, context.metadata))
    return isOfAnotherController(context, live)
      ? "another function has made it for the same object. Delete it, or"
      : "another controller has made it for the same object. Declare it with adopt, or delete it, or";
  if (controller !== undefined)
    return `belongs to ${isHidden ? "another object" : `${controller.kind} ${controller.name}`}. Delete it, or`;
  const parent = parentIn(live);
  if (parent !== undefined)
    return `belongs to ${isHidden ? "another object" : parent}. Remove its annotation ${parentAnnotation} if that is gone, or`;
  return hasOwnFields(context, live)
    ? "has no controller, but fields of this one: it was released, or replaced without its metadata. Declare it with adopt, " +
        "or delete it, which creates it again, or"
    : "has no controller. Declare it with adopt, or delete it, or";
}

async function update(context: ApplyContext, child: DesiredChild, live: KubeObject): Promise<ChildReport> {
  const difference = context.comparison.compare(child, live, context.metadata);
  if (difference === "none") return { did: "nothing", object: live };
  try {
    if (difference === "drifted") return await correct(context, child, live);
    if (child.update === "OnDelete") return await markOnly(context, child, live);
    return { did: "changed", object: await apply(context, child, { live, force: true }) };
  } catch (error) {
    if (!["Recreate", "Rolling"].includes(child.update) || !isImmutable(error)) throw error;
    await deleteChild(context, { ...child, object: live }, "Foreground");
    return { did: "waits", why: "a field of it is immutable, so it is deleted and created again" };
  }
}

/**
 * A child that is changed only when it is deleted still gets what makes it a child: its labels, its owner, and what becomes of
 * it when it is no longer declared. The declared fields stay as they are.
 */
async function markOnly(context: ApplyContext, child: DesiredChild, live: KubeObject): Promise<ChildReport> {
  await patchMarks(context, child, live);
  return { did: "waits", why: "it is changed only when it is deleted, as its update says (OnDelete)" };
}

/** The object with the marks of a child, and its owner reference or none. */
async function patchMarks(
  context: ApplyContext,
  { ref, key, object: declared, isOwned }: DesiredChild,
  live: KubeObject,
): Promise<KubeObject> {
  const body = marksPatch(declared, live, context, isOwned);
  if (body === undefined) return live;
  return context.client.patch(ref, key, { type: "merge", body }, { signal: context.signal });
}

/**
 * Takes back what others have changed, unless that was done a short while ago: a child that others change again and
 * again is set back ever more slowly. A dry run without force finds out whether anything would change, and its refusal
 * names the other managers and the fields.
 */
async function correct(context: ApplyContext, child: DesiredChild, cached: KubeObject): Promise<ChildReport> {
  const { comparison } = context;
  const live = await read(context, child);
  if (live?.metadata.uid !== cached.metadata.uid)
    throw new ConflictError(`${titleOf(child.ref, cached)} was deleted meanwhile.`);
  const dry = await dryRun(context, child, live);
  if (dry.result !== undefined && isSame(dry.result, live)) {
    comparison.remember(child, dry.result);
    return { did: "nothing", object: live };
  }
  if (child.update === "OnDelete") {
    const isAsDeclared = dry.result !== undefined && isSame(withoutMarks(dry.result), withoutMarks(live));
    if (!isAsDeclared) return markOnly(context, child, live);
    return { did: "changed", object: await apply(context, child, { live, force: true }) };
  }
  const now = context.now();
  const last = lastCorrection(live, now, comparison.correctionOf(live));
  if (waitUntilCorrection(last, now) > 0) return { did: "contested", by: dry.by };
  const correction = nextCorrection(last, now);
  const object = await apply(context, child, { live, force: true, correction });
  return { did: "corrected", object, by: dry.by };
}

/** The result of an apply, if it conflicts with no other manager; else the fields that other managers have set. */
async function dryRun(
  context: ApplyContext,
  child: DesiredChild,
  live: KubeObject,
): Promise<{ readonly result?: KubeObject; readonly by: readonly FieldConflict[] }> {
  try {
    // For the version that was read: a status that is written meanwhile would look like a change.
    const version = live.metadata.resourceVersion;
    const declared = { ...child, object: asCorrected(child.object, live) };
    return { result: await apply(context, declared, { live, version, dryRun: true }), by: [] };
  } catch (error) {
    const by = fieldConflicts(error);
    if (by.length === 0) throw error;
    return { by };
  }
}

const isSame = (a: KubeObject, b: KubeObject): boolean =>
  canonicalJson(withoutManagers(a)) === canonicalJson(withoutManagers(b));

/** Managers change without a change of the object, for example if another one sets a field to the same value. */
const withoutManagers = ({ metadata, ...object }: KubeObject): object => ({
  ...object,
  metadata: { ...metadata, managedFields: undefined },
});

interface ApplyChildOptions extends Pick<ApplyOptions, "force" | "dryRun"> {
  /** The child as it was read: another one of its name is not changed. */
  readonly live?: KubeObject;
  /** The apply is refused if the object has another version. */
  readonly version?: string;
  /** Recorded on the child, which others had changed. */
  readonly correction?: Correction;
}

/** No object has this version, so that an apply with it only creates. */
const noVersion = "1";

async function apply(
  context: ApplyContext,
  child: DesiredChild,
  { live, version, correction, ...options }: ApplyChildOptions,
): Promise<KubeObject> {
  const { client, comparison, signal, metadata: parent } = context;
  const { ref, isOwned } = child;
  const declared = correction === undefined ? child.object : withCorrection(child.object, correction);
  const expected = {
    ...(live !== undefined && { uid: live.metadata.uid }),
    ...(version !== undefined && { resourceVersion: version }),
  };
  const object = { ...declared, metadata: { ...declared.metadata, ...expected } };
  const applied = await client.apply(ref, object, { ...options, owned: isOwned, signal });
  if (options.dryRun === true) return applied;
  comparison.applied(child, applied, correction);
  // An apply removes only an owner reference that an apply has made.
  return !isOwned && isControlledBy(applied.metadata, parent) ? patchMarks(context, child, applied) : applied;
}

/** The report of a refusal that is about this child. @throws any other error. */
function failure(error: unknown): ChildReport {
  if (!isApiError(error)) throw error;
  const reason = refusalReason(error);
  if (reason === undefined) throw error;
  const help =
    reason === reasons.immutable ? " Declare the child with update: Recreate, or keep this field." : "";
  const isFinal = reason === reasons.Invalid || reason === reasons.immutable;
  return { did: "failed", reason, isFinal, why: `${messageOf(error)}${help}` };
}

/** The reason in the Ready condition for a refusal that is about one child; undefined for any other error. */
function refusalReason(error: ApiError): string | undefined {
  if (isImmutable(error)) return reasons.immutable;
  if (isUntyped(error)) return reasons.Invalid;
  if (error.kind === "Forbidden" && /exceeded quota/.test(error.serverMessage)) return reasons.quota;
  return error.kind in reasons ? reasons[error.kind as keyof typeof reasons] : undefined;
}

/** The API server answers 500 to an apply with a field that the kind does not have, or with one of another type. */
const isUntyped = ({ status, serverMessage }: ApiError): boolean =>
  status === 500 && /failed to create typed patch object|field not declared in schema/.test(serverMessage);

/** The refusals that are about one child. */
const reasons = {
  immutable: "ChildImmutable",
  quota: "ChildOverQuota",
  Invalid: "ChildInvalid",
  Forbidden: "ChildForbidden",
  NotFound: "ChildNamespaceNotFound",
  NotServed: "ChildNotServed",
} as const;
