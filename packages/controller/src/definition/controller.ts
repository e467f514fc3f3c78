import type { Compose } from "./children.ts";
import { type Duration, type Milliseconds, parseDuration } from "../duration.ts";
import { InvalidControllerError, positiveDuration, positiveInteger } from "./invalid-controller.ts";
import type { NoUnknownFields } from "./known-fields.ts";
import type { GoneContext, ReconcileContext, ReconcileResult } from "./reconcile-context.ts";
import { type Limits, limitsFrom, type Retry, type RetryDefinition, retryFrom } from "./run-settings.ts";
import type { Predicates } from "../function/watched-kind-declaration.ts";
import type { Resource } from "../resource/resource.ts";
import { checkedOwns, checkedWatches, type OwnedKind, type WatchedKind } from "./watched-kinds.ts";

/** An author's definition of a controller. */
export interface ControllerDefinition<R extends Resource> {
  /** Defaults to `<plural>.<group>`; names the controller's queue, finalizer, metrics and events. */
  readonly name?: string;
  readonly for: R;
  /** Which objects it handles, and which changes wake them. Default: all objects, all changes except of status. */
  readonly only?: Predicates;
  /**
   * If true, a run that a change of its object has caused, or that starts within `copiesFor` after a run that was done or
   * waits, may get a copy of the object with the claim, and need not read it from the API server. Guaranteed: the copy
   * is at least as new as every change that has woken the key, and as everything that runs of this key have read, or
   * written with a client under `guard`. It may lack later changes by other clients: a write that carries its version
   * is then refused, as in every controller with a cache, and the next run reads live. Redis holds copies of changed
   * objects until their runs, and for `copiesFor` after them. Default: every run reads live.
   */
  readonly copies?: boolean;
  /**
   * How long Redis keeps what a run has read, for the next run: its object (`copies`) and its lists (`owns[].copies`), at
   * most 16 KiB and 64 KiB for a key. Default `10s`, which is for the runs that follow from its own writes; at most `24h`.
   * With more than the time between two resyncs, a resync reads nothing either, as with the cache of controller-runtime.
   */
  readonly copiesFor?: Duration;
  /** Kinds of which it creates objects. */
  readonly owns?: readonly OwnedKind[];
  /** Other kinds: a change of one of their objects wakes the objects that it affects. */
  readonly watches?: readonly WatchedKind[];
  /** Every object is reconciled again at least this often. Default `10h`, as in controller-runtime. */
  readonly resyncEvery?: Duration;
  /** Concurrent runs in one process. Default 8. */
  readonly concurrency?: number;
  /** A run is aborted after this time and counts as failed. Default `60s`. */
  readonly timeout?: Duration;
  /** How failed runs are retried. */
  readonly retry?: RetryDefinition;
  /** Rate limits for starting runs. */
  readonly limits?: Limits;
  /** Moves the actual state one step towards the spec. Level-triggered: called at any time, for any reason. */
  reconcile(context: ReconcileContext<R>): Promise<ReconcileResult<R> | undefined>;
  /**
   * Undoes what reconcile did outside the cluster. If it is defined, an object gets a finalizer before its first
   * reconcile (unless `needsFinalizer` returns false), which is removed only after this has returned. To wait, throw a
   * RetryAfterError.
   */
  finalize?(context: ReconcileContext<R>): Promise<void>;
  /** True if an object gets the finalizer. Default: true for every object, if `finalize` is defined. */
  needsFinalizer?(object: Pick<ReconcileContext<R>, "metadata" | "spec">): boolean;
  /**
   * Called instead of `reconcile` for an object that is being deleted and does not carry this controller's finalizer:
   * it can still update the status while other finalizers keep the object. If omitted, such a run does nothing.
   */
  whileDeleting?(context: ReconcileContext<R>): Promise<ReconcileResult<R> | undefined>;
  /**
   * Called for a key without an object: it was deleted, or something names an object that never was. Here a controller
   * releases what it holds for its objects, such as its finalizer on objects that it owned. It is called again whenever
   * something changes that names the key, so it should cost little; and with backoff if it throws. If omitted, such a run
   * does nothing.
   */
  whenGone?(context: GoneContext): Promise<void>;
}

/** A defined controller: durations are parsed, defaults are set. */
export interface Controller<R extends Resource = Resource> {
  readonly name: string;
  readonly for: R;
  readonly only: Predicates;
  readonly copies: boolean;
  readonly copiesFor: Milliseconds;
  readonly owns: readonly OwnedKind[];
  readonly watches: readonly WatchedKind[];
  readonly resyncEvery: Milliseconds;
  readonly concurrency: number;
  readonly timeout: Milliseconds;
  readonly retry: Retry;
  readonly limits: Limits;
  /** The finalizer of the controller's objects; undefined if the controller does not define `finalize`. */
  readonly finalizer: string | undefined;
  reconcile(context: ReconcileContext<R>): Promise<ReconcileResult<R> | undefined>;
  finalize(context: ReconcileContext<R>): Promise<void>;
  needsFinalizer(object: Pick<ReconcileContext<R>, "metadata" | "spec">): boolean;
  whileDeleting?(context: ReconcileContext<R>): Promise<ReconcileResult<R> | undefined>;
  whenGone?(context: GoneContext): Promise<void>;
  /** What `reconcile` makes the children by, if the controller declares them (`composeController` of @drover/compose). */
  readonly compose?: Compose<R>;
}

/** Valid names of a controller. */
export const controllerNamePattern = /^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/;

const maxConcurrency = 10_000;

/** Defaults of a controller's definition. */
export const defaultRunSettings = {
  resyncEvery: "10h",
  concurrency: 8,
  timeout: "60s",
  copiesFor: "10s",
} as const;

/** A definition with a reconcile that returns only known fields of the kind; `Result` is inferred from it. */
export type CheckedDefinition<R extends Resource, Result> = Omit<ControllerDefinition<R>, "reconcile"> & {
  reconcile(context: ReconcileContext<R>): Promise<Result>;
} & NoUnknownFields<ReconcileResult<R>, NonNullable<Result>>;

/**
 * Defines a controller. A status field that the kind does not have is a compile-time error, at any depth.
 *
 * @throws InvalidControllerError with the field, the problem and the accepted values.
 */
export function defineController<
  R extends Resource,
  // `void`: an async function without return. `const`: else "Ready" widens to string, which the status's enum refuses.
  // eslint-disable-next-line @typescript-eslint/no-invalid-void-type -- see above
  const Result extends ReconcileResult<R> | undefined | void,
>(definition: CheckedDefinition<R, Result>): Controller<R>;
export function defineController<R extends Resource>(definition: ControllerDefinition<R>): Controller<R> {
  return controllerFrom(definition);
}

/**
 * `defineController` for code that is itself generic over the kind. It makes the same checks at run time, but not the
 * check for unknown status fields, which needs the kind at compile time.
 *
 * @throws InvalidControllerError as `defineController`.
 */
export function controllerFrom<R extends Resource>(definition: ControllerDefinition<R>): Controller<R> {
  const {
    for: resource,
    copiesFor = defaultRunSettings.copiesFor,
    concurrency = defaultRunSettings.concurrency,
    resyncEvery = defaultRunSettings.resyncEvery,
    timeout = defaultRunSettings.timeout,
  } = definition;
  const name = definition.name ?? `${resource.plural}.${resource.group}`;
  if (!controllerNamePattern.test(name)) {
    throw new InvalidControllerError(
      name,
      "name",
      "must be lower-case letters, digits, '-' and '.', 63 at most.",
    );
  }
  return {
    name,
    for: resource,
    only: definition.only ?? {},
    copies: definition.copies ?? false,
    copiesFor: checkedCopiesFor(name, copiesFor),
    owns: checkedOwns(name, definition.owns ?? []),
    watches: checkedWatches(name, definition.watches ?? []),
    concurrency: positiveInteger(name, "concurrency", concurrency, maxConcurrency),
    resyncEvery: positiveDuration(name, "resyncEvery", resyncEvery),
    timeout: positiveDuration(name, "timeout", timeout),
    retry: retryFrom(name, definition.retry),
    limits: limitsFrom(name, definition.limits),
    finalizer: definition.finalize === undefined ? undefined : finalizerOf(name),
    reconcile: (context) => definition.reconcile(context),
    finalize: (context) => definition.finalize?.(context) ?? Promise.resolve(),
    needsFinalizer: (object) => definition.needsFinalizer?.(object) ?? true,
    ...(definition.whileDeleting !== undefined && {
      whileDeleting: (context) => definition.whileDeleting?.(context) ?? Promise.resolve(undefined),
    }),
    ...(definition.whenGone !== undefined && {
      whenGone: (context) => definition.whenGone?.(context) ?? Promise.resolve(),
    }),
  };
}

/** The manager of the fields that a controller's runs set. */
export const fieldManagerOf = (controller: string): string => `drover.dev/${controller}`;

/** The finalizer of the objects of a controller that defines `finalize`. */
export const finalizerOf = (controller: string): string => `${finalizerPrefix}${controller}`;

const finalizerPrefix = "drover.dev/";

/** The controller whose finalizer this is; undefined if it is none of Drover's. */
export const controllerOfFinalizer = (finalizer: string): string | undefined =>
  finalizer.startsWith(finalizerPrefix) ? finalizer.slice(finalizerPrefix.length) : undefined;

/** Copies use memory of Redis: longer than a day they are of no use. */
const longestCopies = "24h";

function checkedCopiesFor(controller: string, copiesFor: Duration): Milliseconds {
  const ms = positiveDuration(controller, "copiesFor", copiesFor);
  if (ms <= parseDuration(longestCopies)) return ms;
  throw new InvalidControllerError(
    controller,
    "copiesFor",
    `is ${copiesFor}; at most ${longestCopies} is possible.`,
  );
}
