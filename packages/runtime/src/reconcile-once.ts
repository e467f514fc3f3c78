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
  TerminalError,
} from "@drover/controller";
import {
  type KubeClient,
  type KubeObject,
  knownObjects,
  refOf,
  type ResourceRef,
  type RunKnowledge,
  type WriteGuard,
} from "@drover/kube";
import { leftCopyKept, type Run, type Verdict } from "@drover/queue";
import { addFinalizer, hasFinalizer, removeFinalizer } from "./finalizer.ts";
import { type LiveObject, parseLiveObject } from "./live-object.ts";
import { nextResync } from "./next-look.ts";
import { outcomeOf } from "./outcome.ts";
import { ownObject } from "./own-object.ts";
import { secretReader } from "./secrets.ts";
import { isNewReady, type Statement, statusToWrite } from "./stated-status.ts";

export type Announce = (about: KubeObject, announcement: Announcement) => void;

export interface ReconcileParts<R extends Resource> {
  readonly controller: Controller<R>;
  readonly client: KubeClient;
  readonly announce: Announce;
  readonly log: Log;
  /** Whether the function scales to zero, and must not be woken for resyncs all the time. */
  readonly rests?: boolean;
  /** Whether changes of other kinds wake its keys. Left out: where it owns or watches any. */
  readonly hearsOfOthers?: boolean;
  readonly now?: () => Date;
  /** In [0, 1): spreads resyncs. */
  readonly random?: () => number;
}

/** A run whose lease is over must not write. */
class NotHeldError extends Error {
  override readonly name = "NotHeldError";
  constructor() {
    super("the run's lease is over; another worker may hold the key.");
  }
}

/** What all steps of one run share. */
interface Step<R extends Resource> extends ReconcileParts<R> {
  readonly run: Run;
  readonly guard: WriteGuard;
  readonly ref: ResourceRef;
}

/**
 * One run of one key: read the object, bring the world one step nearer to it, say so in its status. It is read live,
 * unless a copy came with the claim that is as new as all that was heard of it, and as what runs of this key have written.
 *
 * If the object's annotation pauses it, the run does and writes nothing.
 *
 * Order, which is the promise: the finalizer is persisted before the first `reconcile`; it comes off only after
 * `finalize` has returned; status is written with the version that was read, so that what it says was true of it.
 * Never throws: every end is a verdict.
 */
export async function reconcileOnce<R extends Resource>(
  parts: ReconcileParts<R>,
  run: Run,
): Promise<Verdict> {
  const ref = refOf(parts.controller.for);
  const own = ownObject({ ref, copies: parts.controller.copies }, run);
  const known = knowledgeOf(parts.controller, run);
  const guard: WriteGuard = {
    beforeWrite: (): void => {
      if (!run.held()) throw new NotHeldError();
    },
    follow: bothTold(own.follow, known?.follow),
    known,
  };
  const step = { ...parts, run, guard, ref, client: parts.client.guarded(guard) };
  try {
    const raw = await own.read(step.client);
    const verdict: Verdict = raw === undefined ? { kind: "gone" } : await moveUnlessPaused(step, raw);
    const saw = own.saw(parts.controller.copies && mayWantCopy(parts, verdict));
    if (saw === undefined) return verdict;
    const lists = known?.text();
    return { ...verdict, saw: { ...saw, ...(lists !== undefined && { lists }) } };
  } catch (error) {
    // Only what cannot be said in a status comes here: the object could not be read, or its status not written.
    const { verdict } = outcomeOf(error, abortReason(run));
    if (verdict.kind === "retry") parts.log.warn({ key: run.key, err: error }, "The run failed");
    return verdict;
  }
}

/** Whether the key may be woken soon by what brings no copy of its object: another kind's change, or a time that is near. */
function mayWantCopy<R extends Resource>(
  { controller: { owns, watches }, hearsOfOthers = owns.length + watches.length > 0 }: ReconcileParts<R>,
  verdict: Verdict,
): boolean {
  return hearsOfOthers || ("after" in verdict && verdict.after < leftCopyKept);
}

/** What the run knows of the kinds that the controller has copies of; undefined where there are none. */
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

const bothTold =
  (own: Follow, others: RunKnowledge["follow"] = () => undefined): Follow =>
  (ref, key) => {
    const [tellOwn, tellOthers] = [own(ref, key), others(ref)];
    return (outcome) => {
      tellOwn(outcome);
      tellOthers?.(outcome);
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
  let result: ReconcileResult<R>;
  try {
    result = (await act(contextOf(step, object))) ?? {};
    run.signal.throwIfAborted();
    refuseForeignStatus(step, result);
  } catch (error) {
    return stopWith(step, object.raw, error);
  }
  await state(step, object.raw, {
    fields: result.status,
    conditions: withReady(result.conditions ?? []),
    keepOthers: false,
  });
  const { account } = result;
  return { kind: "done", after: nextLook(step, result), ...(account !== undefined && { account }) };
}

/** The finalizer is persisted before the first thing outside the cluster is. */
async function withFinalizer<R extends Resource>(
  step: Step<R>,
  object: LiveObject<R>,
): Promise<LiveObject<R>> {
  const { controller, client, ref, run } = step;
  const { finalizer } = controller;
  if (finalizer === undefined || hasFinalizer(object.raw, finalizer)) return object;
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
      `${kind} is a kind of others: its status is not written for you. Write it with a client, or return none.`,
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

/** A run that did not get there: say why, and answer what happens next. */
async function stopWith<R extends Resource>(
  step: Step<R>,
  raw: KubeObject,
  error: unknown,
): Promise<Verdict> {
  const { log, run } = step;
  const outcome = outcomeOf(error, abortReason(run));
  if (outcome.ready === undefined) return outcome.verdict;
  log.warn({ key: run.key, verdict: outcome.verdict.kind, err: error }, "The run did not get there");
  try {
    await state(step, raw, { fields: undefined, conditions: [outcome.ready], keepOthers: true });
  } catch (cause) {
    // The verdict stands, whether or not people can read of it.
    log.warn({ key: run.key, err: cause }, "Could not write why");
  }
  return outcome.verdict;
}

async function state<R extends Resource>(
  step: Step<R>,
  raw: KubeObject,
  statement: Statement,
): Promise<void> {
  const { client, controller, ref, announce, now = () => new Date() } = step;
  if (controller.for.foreign) return;
  const status = statusToWrite(raw, statement, now());
  if (status !== undefined) {
    // A run whose time is up may still say so, as long as it holds the lease: hence no signal.
    await client.replace(ref, { ...raw, status }, { subresource: "status" });
  }
  const [stated] = statement.conditions.filter(({ type }) => type === ready);
  if (stated === undefined) return;
  const { status: is, reason, message } = stated;
  const action = raw.metadata.deletionTimestamp === undefined ? "Reconcile" : "Finalize";
  if (is === "False") announce(raw, { type: "Warning", reason, action, note: message });
  else if (isNewReady(raw, stated)) announce(raw, { type: "Normal", reason, action, note: message });
}

function contextOf<R extends Resource>(step: Step<R>, object: LiveObject<R>): ReconcileContext<R> {
  const { client, run, guard, log } = step;
  const { raw, metadata, spec, status } = object;
  const { key, signal } = run;
  return {
    ...{ key, metadata, spec, status, object: raw, log, signal, guard },
    announce: (announcement) => step.announce(raw, announcement),
    readSecret: secretReader(client, key, signal),
  };
}

function withReady(conditions: readonly Condition[]): readonly Condition[] {
  if (conditions.some(({ type }) => type === ready)) return conditions;
  return [
    { type: ready, status: "True", reason: "AsAskedFor", message: "The world is as the spec asks." },
    ...conditions,
  ];
}

function nextLook<R extends Resource>(step: Step<R>, { requeueAfter }: ReconcileResult<R>): Milliseconds {
  if (requeueAfter !== undefined) return milliseconds(requeueAfter);
  const { controller, run, rests = false, now = () => new Date(), random = Math.random } = step;
  return nextResync({ key: run.key, every: controller.resyncEvery, rests }, now(), random());
}

const abortReason = (run: Run): unknown => (run.signal.aborted ? run.signal.reason : undefined);
