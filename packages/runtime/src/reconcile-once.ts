import {
  type Announcement,
  type Condition,
  type Controller,
  isPausedByAnnotation,
  type Log,
  type Milliseconds,
  milliseconds,
  ready,
  type ReconcileContext,
  type ReconcileResult,
  type Resource,
  RetryError,
  stalled,
  TerminalError,
} from "@drover/controller";
import {
  isApiError,
  type KubeClient,
  type KubeObject,
  knownObjects,
  refOf,
  type ResourceRef,
  type RunKnowledge,
  type WriteGuard,
} from "@drover/kube";
import { leftCopyKept, type Run, type Verdict } from "@drover/queue";
import { checkedResult } from "./checked-result.ts";
import { addFinalizer, hasFinalizer, removeFinalizer } from "./finalizer.ts";
import { type LiveObject, parseLiveObject } from "./live-object.ts";
import { nextResync } from "./next-look.ts";
import { outcomeOf } from "./outcome.ts";
import { ownObject } from "./own-object.ts";
import { withProgress } from "./progress.ts";
import { secretReader } from "./secrets.ts";
import { isNewReady, noProgress, type Statement, statusToWrite } from "./stated-status.ts";

export type Announce = (about: KubeObject, announcement: Announcement) => void;

export interface ReconcileParts<R extends Resource> {
  readonly controller: Controller<R>;
  readonly client: KubeClient;
  readonly announce: Announce;
  readonly log: Log;
  /** True if the function scales to zero, so that resyncs must not start it all the time. */
  readonly rests?: boolean;
  /** True if changes of other kinds wake its keys. Default: true if it owns or watches any. */
  readonly hearsOfOthers?: boolean;
  readonly now?: () => Date;
  /** In [0, 1): spreads resyncs. */
  readonly random?: () => number;
}

/** The lease of a run is over, so the run must not write. */
class NotHeldError extends Error {
  override readonly name = "NotHeldError";
  constructor() {
    super("the run's lease is over; another worker may hold the key.");
  }
}

/** Shared by all steps of one run. */
interface Step<R extends Resource> extends ReconcileParts<R> {
  readonly run: Run;
  readonly guard: WriteGuard;
  readonly ref: ResourceRef;
  /** True if this run has written to the cluster, or may have. */
  readonly hasWritten: () => boolean;
}

/**
 * One run of one key: reads the object, calls the controller, and writes the status. The object is read live, unless
 * the claim brought a cached object that is at least as new as every wake of it and every write by runs of this key.
 *
 * If the object's annotation pauses it, the run does and writes nothing.
 *
 * Order, which is guaranteed: the finalizer is persisted before the first `reconcile`; it is removed only after
 * `finalize` has returned; the status is written with the version that was read, so that it is true for this version.
 * Never throws: every end is an outcome.
 */
export async function reconcileOnce<R extends Resource>(
  parts: ReconcileParts<R>,
  run: Run,
): Promise<Verdict> {
  const ref = refOf(parts.controller.for);
  const own = ownObject({ ref, copies: parts.controller.copies }, run);
  const known = knowledgeOf(parts.controller, run);
  let hasWritten = false;
  const guard: WriteGuard = {
    beforeWrite: (): void => {
      if (!run.held()) throw new NotHeldError();
    },
    follow: allTold([
      own.follow,
      known?.follow,
      () => (outcome) => void (hasWritten ||= outcome !== "refused"),
    ]),
    known,
  };
  const client = parts.client.guarded(guard);
  const step = { ...parts, run, guard, ref, client, hasWritten: () => hasWritten };
  try {
    const raw = await own.read(step.client);
    const verdict: Verdict =
      raw === undefined
        ? { kind: "gone" }
        : await moveUnlessPaused(step, raw).catch((error: unknown) => stopWithRefusal(step, raw, error));
    const saw = own.saw(parts.controller.copies && mayWantCopy(parts, verdict));
    if (saw === undefined) return verdict;
    const lists = known?.text();
    return { ...verdict, saw: { ...saw, ...(lists !== undefined && { lists }) } };
  } catch (error) {
    // No status can report these: the object could not be read, or the API server is not available.
    const { verdict } = outcomeOf(error, abortReason(run));
    if (verdict.kind === "retry") parts.log.warn({ key: run.key, err: error }, "The run failed");
    return verdict;
  }
}

/**
 * True if the key may soon be woken by something that brings no cached object: a change of another kind, or a timer that
 * ends soon.
 */
function mayWantCopy<R extends Resource>(
  { controller: { owns, watches }, hearsOfOthers = owns.length + watches.length > 0 }: ReconcileParts<R>,
  verdict: Verdict,
): boolean {
  return hearsOfOthers || ("after" in verdict && verdict.after < leftCopyKept);
}

/** The run's cached objects of the kinds that it owns with `copies`; undefined if it has no such kind. */
function knowledgeOf({ owns }: Pick<Controller, "owns">, { claim }: Run): RunKnowledge | undefined {
  const copied = owns.filter(({ copies }) => copies === true);
  return copied.length === 0
    ? undefined
    : knownObjects(
        copied.map(({ kind }) => refOf(kind)),
        claim,
      );
}

type Follow = NonNullable<WriteGuard["follow"]>;

/** An observer of writes. It returns undefined for writes that it ignores. */
type Follows = (...written: Parameters<Follow>) => ReturnType<Follow> | undefined;

const allTold =
  (all: readonly (Follows | undefined)[]): Follow =>
  (ref, key) => {
    const told = all.map((follow) => follow?.(ref, key));
    return (outcome) => {
      for (const tell of told) tell?.(outcome);
    };
  };

/** The queue may not have recorded the pause: Redis was emptied, or the annotation was added during the run before. */
async function moveUnlessPaused<R extends Resource>(step: Step<R>, raw: KubeObject): Promise<Verdict> {
  return isPausedByAnnotation(step.ref, raw.metadata) ? { kind: "paused" } : moveOn(step, raw);
}

async function moveOn<R extends Resource>(step: Step<R>, raw: KubeObject): Promise<Verdict> {
  const { controller } = step;
  const { finalizer } = controller;
  const deleting = raw.metadata.deletionTimestamp !== undefined;
  const isOurs = finalizer !== undefined && hasFinalizer(raw, finalizer);
  if (deleting && !isOurs && controller.whileDeleting === undefined) return { kind: "done" };
  const parsed = parseLiveObject(step.controller.for, raw);
  if (!parsed.ok) {
    return stopWith(step, raw, new TerminalError(parsed.problem, { reason: "InvalidSpec" }));
  }
  if (!deleting) {
    const object = await withFinalizer(step, parsed.object);
    return bringNearer(step, object, (context) => controller.reconcile(context));
  }
  if (isOurs) return cleanUp(step, parsed.object);
  return bringNearer(step, parsed.object, async (context) => controller.whileDeleting?.(context));
}

async function bringNearer<R extends Resource>(
  step: Step<R>,
  object: LiveObject<R>,
  act: Controller<R>["reconcile"],
): Promise<Verdict> {
  const { run } = step;
  const { raw } = object;
  let result: ReconcileResult<R>;
  try {
    const returned = await act(contextOf(step, object));
    run.signal.throwIfAborted();
    result = checkedResult(step.controller.for, returned);
    refuseForeignStatus(step, result);
  } catch (error) {
    return stopWith(step, raw, error);
  }
  const { account, requeueAfter } = result;
  const statement = {
    fields: result.status,
    conditions: withReady(result.conditions ?? []),
    keepOthers: false,
  };
  const done: Verdict = {
    kind: "done",
    after: nextLook(step, result),
    ...(account !== undefined && { account }),
  };
  const end = { statement, verdict: done };
  const said = requeueAfter === undefined ? end : withProgress(step, raw, end);
  try {
    await state(step, raw, said.statement);
  } catch (error) {
    return stopWithRefusal(step, raw, error);
  }
  return said.verdict;
}

/** Persists the finalizer before anything outside the cluster is created. */
async function withFinalizer<R extends Resource>(
  step: Step<R>,
  object: LiveObject<R>,
): Promise<LiveObject<R>> {
  const { controller, client, ref, run } = step;
  const { finalizer } = controller;
  if (finalizer === undefined || hasFinalizer(object.raw, finalizer)) return object;
  if (!controller.needsFinalizer(object)) return object;
  const raw = await addFinalizer({
    client,
    ref,
    key: run.key,
    object: object.raw,
    finalizer,
    signal: run.signal,
  });
  return { ...object, raw, metadata: raw.metadata };
}

function refuseForeignStatus<R extends Resource>(
  { controller }: Step<R>,
  { status, conditions }: ReconcileResult<R>,
): void {
  const { foreign, kind } = controller.for;
  if (foreign && (status !== undefined || conditions !== undefined))
    throw new TerminalError(
      `${kind} is a foreign kind, so Drover does not write its status. Write it with the client, or return neither status nor conditions.`,
    );
}

async function cleanUp<R extends Resource>(step: Step<R>, object: LiveObject<R>): Promise<Verdict> {
  const { controller, client, ref, run } = step;
  const { finalizer } = controller;
  if (finalizer === undefined) return { kind: "done" };
  try {
    await controller.finalize(contextOf(step, object));
    run.signal.throwIfAborted();
  } catch (error) {
    return stopWith(step, object.raw, error);
  }
  await removeFinalizer({ client, ref, key: run.key, object: object.raw, finalizer, signal: run.signal });
  step.announce(object.raw, {
    type: "Normal",
    reason: "Finalized",
    action: "Finalize",
    note: "Everything outside the cluster is undone.",
  });
  return { kind: "done" };
}

/** Ends a failed run: writes the reason to the status, and returns the outcome. */
async function stopWith<R extends Resource>(
  step: Step<R>,
  raw: KubeObject,
  error: unknown,
): Promise<Verdict> {
  const { log, run } = step;
  const outcome = outcomeOf(error, abortReason(run));
  if (outcome.ready === undefined) return outcome.verdict;
  log.warn({ key: run.key, verdict: outcome.verdict.kind, err: error }, "The run did not complete");
  const failed = {
    fields: undefined,
    conditions: [outcome.ready],
    keepOthers: true,
    parked: isParked(step, outcome.verdict),
  };
  const { statement, verdict } = withProgress(step, raw, { statement: failed, verdict: outcome.verdict });
  try {
    await state(step, raw, statement).catch((cause: unknown) => {
      if (!isApiError(cause, "Invalid")) throw cause;
      // The fields of the status may be the reason: the CRD may have changed since they were written.
      return state(step, raw, { ...statement, fields: {}, keepOthers: false });
    });
  } catch (cause) {
    // The outcome stands even if the status could not be written.
    log.warn({ key: run.key, err: cause }, "Could not write the reason to the status");
    if (isApiError(cause, "Invalid", "Forbidden")) announceStatement(step, raw, statement);
  }
  return verdict;
}

/** True if the queue parks the key with this outcome, unless the key has been woken meanwhile. */
const isParked = (
  { controller, run }: Pick<Step<Resource>, "controller" | "run">,
  verdict: Verdict,
): boolean =>
  verdict.kind === "terminal" ||
  (verdict.kind === "retry" && run.claim.fails + 1 >= (controller.retry.attempts ?? Infinity));

/**
 * Reports that the API server has refused a write of the runtime's own, of a status or a finalizer: in the conditions,
 * if it accepts those, and in an Event.
 *
 * @throws any other error.
 */
function stopWithRefusal<R extends Resource>(
  step: Step<R>,
  raw: KubeObject,
  error: unknown,
): Promise<Verdict> {
  if (isApiError(error, "Forbidden")) return stopWith(step, raw, error);
  if (!isApiError(error, "Invalid")) throw error;
  const { kind, plural, group } = step.controller.for;
  const help = `Correct what reconcile returns, or the schema of ${kind} and its CRD, ${plural}.${group}.`;
  return stopWith(
    step,
    raw,
    new RetryError(`${error.message} ${help}`, { reason: "WriteRefused", cause: error }),
  );
}

async function state<R extends Resource>(
  step: Step<R>,
  raw: KubeObject,
  statement: Statement,
): Promise<void> {
  const { client, controller, ref, now = () => new Date() } = step;
  if (controller.for.foreign) return;
  const status = statusToWrite(raw, statement, now());
  if (status !== undefined) {
    // No signal: a run that has timed out may still write its status, as long as it holds the lease.
    await client.replace(ref, { ...raw, status }, { subresource: "status" });
  }
  announceStatement(step, raw, statement);
}

function announceStatement<R extends Resource>(
  { announce }: Step<R>,
  raw: KubeObject,
  { conditions, keepOthers: hasFailed }: Statement,
): void {
  const isWorse = hasFailed || conditions.some(({ type, status }) => type === stalled && status === "True");
  const action = raw.metadata.deletionTimestamp === undefined ? "Reconcile" : "Finalize";
  for (const stated of conditions) {
    const { type, status, reason, message } = stated;
    // If a run did not fail, its Ready=False only shows its progress.
    const isWrong = stated === noProgress || (type === ready && status === "False" && isWorse);
    if (isWrong) announce(raw, { type: "Warning", reason, action, note: message });
    else if (type === ready && isNewReady(raw, stated))
      announce(raw, { type: "Normal", reason, action, note: message });
  }
}

function contextOf<R extends Resource>(step: Step<R>, object: LiveObject<R>): ReconcileContext<R> {
  const { client, run, guard, log } = step;
  const { raw, metadata, spec, status } = object;
  const { key, signal } = run;
  return {
    key,
    metadata,
    spec,
    status,
    object: raw,
    log,
    signal,
    client,
    guard,
    announce: (announcement) => step.announce(raw, announcement),
    readSecret: secretReader(client, key, signal),
  };
}

function withReady(conditions: readonly Condition[]): readonly Condition[] {
  if (conditions.some(({ type }) => type === ready)) return conditions;
  return [
    { type: ready, status: "True", reason: "AsAskedFor", message: "The spec is reconciled." },
    ...conditions,
  ];
}

function nextLook<R extends Resource>(step: Step<R>, { requeueAfter }: ReconcileResult<R>): Milliseconds {
  if (requeueAfter !== undefined) return milliseconds(requeueAfter);
  const { controller, run, rests = false, now = () => new Date(), random = Math.random } = step;
  return nextResync({ key: run.key, every: controller.resyncEvery, rests }, now(), random());
}

const abortReason = (run: Run): unknown => (run.signal.aborted ? run.signal.reason : undefined);
