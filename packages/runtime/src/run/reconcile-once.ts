import {
  type Condition,
  type Controller,
  isPausedByAnnotation,
  type Log,
  type Milliseconds,
  type OutsidePlan,
  parseDuration,
  readyCondition,
  type ReconcileContext,
  type ReconcileResult,
  type Resource,
  RetryError,
  TerminalError,
} from "@drover/controller";
import {
  controllerReference,
  isApiError,
  type KubeClient,
  type KubeObject,
  openRunCache,
  refOf,
  type ResourceRef,
  type RunCache,
} from "@drover/kube";
import { cachedObjectTtl, type Run, type RunOutcome } from "@drover/queue";
import { checkedResult } from "../schema/checked-result.ts";
import { addFinalizer, hasFinalizer, removeFinalizer } from "./finalizer.ts";
import { type ParsedObject, parseObject } from "../schema/parse-object.ts";
import { type DevSession, reconcilable } from "./developed-object.ts";
import { nextResync } from "./next-resync.ts";
import { outcomeOfError } from "./error-outcome.ts";
import { objectReader } from "./object-reader.ts";
import { type RunGuard, runGuard } from "./run-guard.ts";
import { retryWithoutProgress } from "../status/progress.ts";
import { secretReader } from "./secret-reader.ts";
import {
  type Announce,
  announceConditions,
  type StatusReport,
  statusToWrite,
} from "../status/status-writer.ts";

export interface ReconcileOptions<R extends Resource> {
  readonly controller: Controller<R>;
  readonly client: KubeClient;
  readonly announce: Announce;
  readonly log: Log;
  /** True if the function scales to zero, so that resyncs must not start it all the time. */
  readonly scalesToZero?: boolean;
  /** True if changes of other kinds wake its keys. Default: true if it owns or watches any. */
  readonly isWokenByOthers?: boolean;
  readonly now?: () => Date;
  /** The session of `drover dev` that the process runs for: it reconciles only objects of this session. */
  readonly session?: DevSession | undefined;
  /** For a run that is planned: the function may record its writes outside of the cluster there. */
  readonly outsidePlan?: OutsidePlan;
  /** In [0, 1): spreads resyncs. */
  readonly random?: () => number;
}

/** Shared by all steps of one run. */
interface RunContext<R extends Resource> extends ReconcileOptions<R> {
  readonly run: Run;
  readonly cache: RunCache | undefined;
  readonly guard: RunGuard;
  readonly ref: ResourceRef;
}

/**
 * One run of one key: reads the object, calls the controller, and writes the status. The object is read live, unless
 * the claim brought a cached object that is at least as new as every wake of it and every write by runs of this key.
 *
 * If the object's annotation pauses it, the run does and writes nothing. If a session of `drover dev` reconciles it, the
 * run only acknowledges that.
 *
 * Order, which is guaranteed: the finalizer is persisted before the first `reconcile`; it is removed only after
 * `finalize` has returned; the status is written with the version that was read, so that it is true for this version.
 * Never throws: every end is an outcome.
 */
export async function reconcileOnce<R extends Resource>(
  options: ReconcileOptions<R>,
  run: Run,
): Promise<RunOutcome> {
  const ref = refOf(options.controller.for);
  const copies = options.controller.copies && options.session === undefined;
  const reader = objectReader({ ref, copies }, run);
  const cache = cachedListsOf(options.controller, run);
  const guard = runGuard(run, options.controller.name, {
    reader: reader.observeWrite,
    cache,
    log: options.log,
  });
  const client = options.client.guarded(guard);
  const runContext = { ...options, run, cache, guard, ref, client };
  try {
    const raw = await reader.read(runContext.client);
    const outcome: RunOutcome =
      raw === undefined
        ? await endGone(runContext)
        : await reconcileUnlessHeld(runContext, raw).catch((error: unknown) =>
            endRefusedWrite(runContext, raw, error),
          );
    const observed = reader.observed(options.controller.copies && mayNeedCachedObject(options, outcome));
    if (observed === undefined) return outcome;
    const cachedLists = cache?.text();
    if (observed.cachedObject === undefined && cachedLists === undefined) return { ...outcome, observed };
    const keepFor = options.controller.copiesFor;
    const lists = cachedLists === undefined ? {} : { cachedLists, seen: cache?.seen() ?? [] };
    return { ...outcome, observed: { ...observed, keepFor, ...lists } };
  } catch (error) {
    // No status can report these: the object could not be read, or the API server is not available.
    const { outcome } = outcomeOfError(error, abortReason(run));
    if (outcome.kind === "retry") options.log.warn({ key: run.key, err: error }, "The run failed");
    return outcome;
  }
}

/**
 * True if the key may be woken within `copiesFor` by something that brings no cached object: a change of another kind, a
 * timer, or a campaign if the copies are kept for longer than usual.
 */
function mayNeedCachedObject<R extends Resource>(
  { controller, isWokenByOthers }: ReconcileOptions<R>,
  outcome: RunOutcome,
): boolean {
  const { owns, watches, copiesFor } = controller;
  const byOthers = isWokenByOthers ?? owns.length + watches.length > 0;
  return byOthers || copiesFor > cachedObjectTtl || ("after" in outcome && outcome.after < copiesFor);
}

/** The run's cached objects of the kinds that it owns with `copies`; undefined if it has no such kind. */
function cachedListsOf({ owns }: Pick<Controller, "owns">, { claim }: Run): RunCache | undefined {
  const cached = owns.filter(({ copies }) => copies === true);
  return cached.length === 0
    ? undefined
    : openRunCache(
        cached.map(({ kind }) => refOf(kind)),
        claim,
      );
}

/** A session of `drover dev` does not know if the object was one of its own. */
async function endGone<R extends Resource>({
  controller,
  client,
  guard,
  log,
  now = () => new Date(),
  run: { key, signal },
  session,
}: RunContext<R>): Promise<RunOutcome> {
  if (session === undefined) await controller.whenGone?.({ key, client, guard, log, now, signal });
  return { kind: "gone" };
}

/** The queue may not have recorded the pause: Redis was emptied, or the annotation was added during the run before. */
async function reconcileUnlessHeld<R extends Resource>(
  runContext: RunContext<R>,
  raw: KubeObject,
): Promise<RunOutcome> {
  const { ref, client, controller, session, now = () => new Date() } = runContext;
  if (isPausedByAnnotation(ref, raw.metadata)) return { kind: "paused" };
  const developed = { client, ref, isForeign: controller.for.foreign === true, session, now };
  const found = await reconcilable(developed, raw);
  return isOutcome(found) ? found : reconcileOrFinalize(runContext, found);
}

const isOutcome = (found: KubeObject | RunOutcome): found is RunOutcome => !("metadata" in found);

async function reconcileOrFinalize<R extends Resource>(
  runContext: RunContext<R>,
  raw: KubeObject,
): Promise<RunOutcome> {
  const { controller } = runContext;
  const { finalizer } = controller;
  const deleting = raw.metadata.deletionTimestamp !== undefined;
  const isOurs = finalizer !== undefined && hasFinalizer(raw, finalizer);
  if (deleting && !isOurs && controller.whileDeleting === undefined) return { kind: "done" };
  const parsed = parseObject(runContext.controller.for, raw);
  if (!parsed.ok) {
    return endFailedRun(runContext, raw, new TerminalError(parsed.problem, { reason: "InvalidSpec" }));
  }
  if (!deleting) {
    const object = await withFinalizer(runContext, parsed.object);
    return reconcileObject(runContext, object, (context) => controller.reconcile(context));
  }
  if (isOurs) return finalizeObject(runContext, parsed.object);
  return reconcileObject(runContext, parsed.object, async (context) => controller.whileDeleting?.(context));
}

async function reconcileObject<R extends Resource>(
  runContext: RunContext<R>,
  object: ParsedObject<R>,
  act: Controller<R>["reconcile"],
): Promise<RunOutcome> {
  const { run } = runContext;
  let { raw } = object;
  let result: ReconcileResult<R>;
  try {
    const returned = await act(contextOf(runContext, object));
    run.signal.throwIfAborted();
    result = checkedResult(runContext.controller.for, returned);
    refuseForeignStatus(runContext, result);
  } catch (error) {
    return endFailedRun(runContext, raw, error);
  }
  raw = result.object ?? raw;
  if (result.failure !== undefined) return endFailedRun(runContext, raw, result.failure, result);
  const { account, requeueAfter } = result;
  const report = {
    fields: result.status,
    conditions: withReady(result.conditions ?? []),
    keepOthers: false,
  };
  if (result.hasSeenOwnWrites === true) runContext.cache?.noteAllSeen();
  const done: RunOutcome = {
    kind: "done",
    after: nextRunAfter(runContext, result),
    ...(account !== undefined && { account }),
  };
  const end = { report, outcome: done };
  const checkedEnd = requeueAfter === undefined ? end : retryWithoutProgress(runContext, raw, end);
  try {
    await writeStatus(runContext, raw, checkedEnd.report);
  } catch (error) {
    return endRefusedWrite(runContext, raw, error);
  }
  return checkedEnd.outcome;
}

/** Persists the finalizer before anything outside the cluster is created. */
async function withFinalizer<R extends Resource>(
  runContext: RunContext<R>,
  object: ParsedObject<R>,
): Promise<ParsedObject<R>> {
  const { controller, client, ref, run } = runContext;
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
  { controller }: RunContext<R>,
  { status, conditions }: ReconcileResult<R>,
): void {
  const { foreign, kind } = controller.for;
  if (foreign && (status !== undefined || conditions !== undefined))
    throw new TerminalError(
      `${kind} is a foreign kind, so Drover does not write its status. Write it with the client, or return neither status nor conditions.`,
    );
}

async function finalizeObject<R extends Resource>(
  runContext: RunContext<R>,
  object: ParsedObject<R>,
): Promise<RunOutcome> {
  const { controller, client, ref, run } = runContext;
  const { finalizer } = controller;
  if (finalizer === undefined) return { kind: "done" };
  try {
    await controller.finalize(contextOf(runContext, object));
    run.signal.throwIfAborted();
  } catch (error) {
    return endFailedRun(runContext, object.raw, error);
  }
  await removeFinalizer({ client, ref, key: run.key, object: object.raw, finalizer, signal: run.signal });
  runContext.announce(object.raw, {
    type: "Normal",
    reason: "Finalized",
    action: "Finalize",
    note: "Everything outside the cluster is undone.",
  });
  return { kind: "done" };
}

/** Ends a failed run: writes the reason to the status, with what the run has reported, and returns the outcome. */
async function endFailedRun<R extends Resource>(
  runContext: RunContext<R>,
  raw: KubeObject,
  error: unknown,
  { status, conditions = [] }: Pick<ReconcileResult<R>, "status" | "conditions"> = {},
): Promise<RunOutcome> {
  const { log, run } = runContext;
  const failure = outcomeOfError(error, abortReason(run));
  if (failure.ready === undefined) return failure.outcome;
  log.warn({ key: run.key, verdict: failure.outcome.kind, err: error }, "The run did not complete");
  const failed = {
    fields: status,
    conditions: [failure.ready, ...conditions.filter(({ type }) => type !== readyCondition)],
    keepOthers: true,
    parked: isParked(runContext, failure.outcome),
  };
  const { report, outcome } = retryWithoutProgress(runContext, raw, {
    report: failed,
    outcome: failure.outcome,
  });
  try {
    await writeStatus(runContext, raw, report).catch((cause: unknown) => {
      if (!isApiError(cause, "Invalid")) throw cause;
      // The fields of the status may be the reason: the CRD may have changed since they were written.
      return writeStatus(runContext, raw, { ...report, fields: {}, keepOthers: false });
    });
  } catch (cause) {
    // The outcome stands even if the status could not be written.
    log.warn({ key: run.key, err: cause }, "Could not write the reason to the status");
    if (isApiError(cause, "Invalid", "Forbidden")) announceConditions(runContext.announce, raw, report);
  }
  return outcome;
}

/** True if the queue parks the key with this outcome, unless the key has been woken meanwhile. */
const isParked = (
  { controller, run }: Pick<RunContext<Resource>, "controller" | "run">,
  outcome: RunOutcome,
): boolean =>
  outcome.kind === "terminal" ||
  (outcome.kind === "retry" && run.claim.fails + 1 >= (controller.retry.attempts ?? Infinity));

/**
 * Reports that the API server has refused a write of the runtime's own, of a status or a finalizer: in the conditions,
 * if it accepts those, and in an Event.
 *
 * @throws any other error.
 */
function endRefusedWrite<R extends Resource>(
  runContext: RunContext<R>,
  raw: KubeObject,
  error: unknown,
): Promise<RunOutcome> {
  if (isApiError(error, "Forbidden")) return endFailedRun(runContext, raw, error);
  if (!isApiError(error, "Invalid")) throw error;
  const { kind, plural, group } = runContext.controller.for;
  const help = `Correct what reconcile returns, or the schema of ${kind} and its CRD, ${plural}.${group}.`;
  return endFailedRun(
    runContext,
    raw,
    new RetryError(`${error.message} ${help}`, { reason: "WriteRefused", cause: error }),
  );
}

async function writeStatus<R extends Resource>(
  runContext: RunContext<R>,
  raw: KubeObject,
  report: StatusReport,
): Promise<void> {
  const { client, controller, ref, now = () => new Date() } = runContext;
  if (controller.for.foreign) return;
  const status = statusToWrite(raw, report, now());
  if (status !== undefined) {
    // No signal: a run that has timed out may still write its status, as long as it holds the lease.
    await client.replace(ref, { ...raw, status }, { subresource: "status" });
  }
  announceConditions(runContext.announce, raw, report);
}

function contextOf<R extends Resource>(
  runContext: RunContext<R>,
  object: ParsedObject<R>,
): ReconcileContext<R> {
  const { ref, run, guard, log, now = () => new Date(), outsidePlan: plan } = runContext;
  const { raw, metadata, spec, status } = object;
  const owner = { reference: controllerReference({ ref, metadata }), namespace: metadata.namespace };
  const client = runContext.client.guarded({ beforeWrite: () => undefined, owner });
  const { key, signal } = run;
  return {
    key,
    metadata,
    spec,
    status,
    object: raw,
    log,
    now,
    signal,
    client,
    guard: plan === undefined ? guard : { beforeWrite: () => guard.beforeWrite(), plan },
    announce: (announcement) => runContext.announce(raw, announcement),
    readSecret: secretReader(client, key, signal),
  };
}

function withReady(conditions: readonly Condition[]): readonly Condition[] {
  if (conditions.some(({ type }) => type === readyCondition)) return conditions;
  return [
    { type: readyCondition, status: "True", reason: "Reconciled", message: "The spec is reconciled." },
    ...conditions,
  ];
}

function nextRunAfter<R extends Resource>(
  runContext: RunContext<R>,
  { requeueAfter }: ReconcileResult<R>,
): Milliseconds {
  if (requeueAfter !== undefined) return parseDuration(requeueAfter);
  const { controller, run, scalesToZero = false, now = () => new Date(), random = Math.random } = runContext;
  return nextResync({ key: run.key, every: controller.resyncEvery, scalesToZero }, now(), random());
}

const abortReason = (run: Run): unknown => (run.signal.aborted ? run.signal.reason : undefined);
