import type { Condition } from "./condition.ts";
import type { Duration, Milliseconds } from "./duration.ts";
import { InvalidControllerError, positive, whole } from "./invalid-controller.ts";
import type { Immutable, NoUnknownFields } from "./known-fields.ts";
import type { ObjectClient } from "./object-client.ts";
import type { ObjectKey } from "./object-key.ts";
import { type Limits, limitsFrom, type Retry, type RetryDefinition, retryFrom } from "./pace.ts";
import type { Predicates } from "./reconcile-function.ts";
import type { ObjectMetadata, Resource, SpecOf, StatedStatus, StatusOf } from "./resource.ts";
import { checkedWatches, type Owned, type Watched } from "./watched.ts";

/** Where a reconcile says what it does; structured fields first, as pino has it. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Something that happened to an object and that people should find beside it: a Kubernetes Event. */
export interface Announcement {
  readonly type: "Normal" | "Warning";
  /** CamelCase: why this is told, such as `BucketCreated`. */
  readonly reason: string;
  /** CamelCase: what was done or tried. */
  readonly action: string;
  /** A sentence for people. Kubernetes keeps 1 kB of it. */
  readonly note: string;
}

/** What one run is given. The object was read live and parsed just before, or is a copy (`ControllerDefinition.copies`). */
export interface ReconcileContext<R extends Resource> {
  readonly key: ObjectKey;
  readonly metadata: ObjectMetadata;
  readonly spec: SpecOf<R>;
  /** The status as it was read: a memory aid, never the truth. Look at the world. */
  readonly status: StatedStatus<R>;
  /** All of the object, as it was read: for kinds of others, whose schema is not known whole. */
  readonly object: { readonly metadata: ObjectMetadata; readonly [field: string]: unknown };
  readonly log: Log;
  /** Fires when the run must stop: time is up, the lease is about to end, the process is stopping. Pass it on. */
  readonly signal: AbortSignal;
  /**
   * The cluster, with the rights that the function is deployed with: name what it does in `permissions`. It writes only
   * while the run's lease lasts; after that every write throws a WriteRefusedError and nothing is sent. A function that is
   * called over HTTP has no way to the cluster: there each request is a TerminalError.
   */
  readonly client: ObjectClient;
  /**
   * For writes elsewhere, to be called right before each: it throws once the run's lease is over, and another worker may
   * hold the key.
   */
  readonly guard: { beforeWrite(): void };
  /**
   * Tell people of something: an Event beside the object, as well as it can be written; what is told again is counted.
   * A function that is called by webhook has no way to the cluster: there it goes to the log.
   */
  readonly announce: (announcement: Announcement) => void;
  /**
   * The values of a Secret in the object's own namespace, decoded; undefined when there is none.
   * Read live, never copied, cached or logged.
   */
  readonly readSecret: (name: string) => Promise<Readonly<Record<string, string>> | undefined>;
}

/** What a reconcile found. Every part is optional: returning nothing says "as asked for". */
export interface ReconcileResult<R extends Resource> {
  /** Written to the object's status, beside `observedGeneration` and the conditions. Left out: kept as it is. */
  readonly status?: Immutable<StatusOf<R>>;
  /** Look again after this time, though nothing changed. */
  readonly requeueAfter?: Duration;
  /** The account of the outside world that was used, if its `limits` are to count this run. It is remembered per key. */
  readonly account?: string;
  /** Conditions beside Ready; a `Ready` given here replaces the runtime's `Ready=True`. Types not given go away. */
  readonly conditions?: readonly Condition[];
}

/** What an author writes to define a controller. */
export interface ControllerDefinition<R extends Resource> {
  /** Defaults to `<plural>.<group>`; names the controller's queue, finalizer, metrics and events. */
  readonly name?: string;
  readonly for: R;
  /** Which of its objects concern it, and which of their changes. Default: all, and all but status. */
  readonly only?: Predicates;
  /**
   * Runs that answer a change of their object, or follow within 10 s upon one that was done or waits, are given a copy of
   * it with the claim, and spare the API server and themselves a read. Guaranteed: it is at least as new as every change
   * that has woken the key, and as all that runs of this key have read and written with `guard`. It may lack what others
   * have done to the object since: a write that gives its version is refused then, as in every controller that has a
   * cache, and the next run reads live. Copies of changed objects are in Redis until their runs, and 10 s after them.
   * Default: every run reads live.
   */
  readonly copies?: boolean;
  /** Kinds that it makes objects of. */
  readonly owns?: readonly Owned[];
  /** Other kinds whose objects concern its own. */
  readonly watches?: readonly Watched[];
  /** Every object is looked at again at least this often. Default `10h`, as in controller-runtime. */
  readonly resyncEvery?: Duration;
  /** Runs at once in one process. Default 8. */
  readonly concurrency?: number;
  /** A run is aborted after this time and counts as failed. Default `60s`. */
  readonly timeout?: Duration;
  /** How failed runs are tried again. */
  readonly retry?: RetryDefinition;
  /** How many runs may start. */
  readonly limits?: Limits;
  /** Move the world one step towards the spec. Level-triggered: it may be called at any time, for any reason. */
  reconcile(context: ReconcileContext<R>): Promise<ReconcileResult<R> | undefined>;
  /**
   * Undo what reconcile did outside the cluster. Where it is given, every object carries a finalizer before its first
   * reconcile, which comes off only after this has returned. To wait, throw a RetryAfterError.
   */
  finalize?(context: ReconcileContext<R>): Promise<void>;
  /** Whether an object gets the finalizer. Default: every object, where `finalize` is given. */
  needsFinalizer?(object: Pick<ReconcileContext<R>, "metadata" | "spec">): boolean;
  /**
   * Called in place of `reconcile` for an object that is being deleted and carries no finalizer of this controller: what
   * is still said of it while others hold it. Left out: nothing happens then.
   */
  whileDeleting?(context: ReconcileContext<R>): Promise<ReconcileResult<R> | undefined>;
}

/** A controller, defined: durations parsed, defaults in place. */
export interface Controller<R extends Resource = Resource> {
  readonly name: string;
  readonly for: R;
  readonly only: Predicates;
  readonly copies: boolean;
  readonly owns: readonly Owned[];
  readonly watches: readonly Watched[];
  readonly resyncEvery: Milliseconds;
  readonly concurrency: number;
  readonly timeout: Milliseconds;
  readonly retry: Retry;
  readonly limits: Limits;
  /** The finalizer that every object carries, when the controller cleans up outside the cluster. */
  readonly finalizer: string | undefined;
  reconcile(context: ReconcileContext<R>): Promise<ReconcileResult<R> | undefined>;
  finalize(context: ReconcileContext<R>): Promise<void>;
  needsFinalizer(object: Pick<ReconcileContext<R>, "metadata" | "spec">): boolean;
  whileDeleting?(context: ReconcileContext<R>): Promise<ReconcileResult<R> | undefined>;
}

/** What a controller may be called. */
export const controllerName = /^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/;

const mostConcurrent = 10_000;

/** How a controller runs that does not say so. */
export const usualPace = { resyncEvery: "10h", concurrency: 8, timeout: "60s" } as const;

/** A definition whose reconcile returns exactly what is known of the kind; `Result` is inferred from it. */
export type CheckedDefinition<R extends Resource, Result> = Omit<ControllerDefinition<R>, "reconcile"> & {
  reconcile(context: ReconcileContext<R>): Promise<Result>;
} & NoUnknownFields<ReconcileResult<R>, NonNullable<Result>>;

/**
 * Define a controller. A status field that the kind does not have is a compile-time error, however deep.
 *
 * @throws InvalidControllerError naming the field, what is wrong with it and what it may be.
 */
export function defineController<
  R extends Resource,
  // `void`: an async function without a return. `const`, or else "Ready" would widen to string before it meets the status's enum.
  // eslint-disable-next-line @typescript-eslint/no-invalid-void-type -- see above
  const Result extends ReconcileResult<R> | undefined | void,
>(definition: CheckedDefinition<R, Result>): Controller<R>;
export function defineController<R extends Resource>(definition: ControllerDefinition<R>): Controller<R> {
  return controllerFrom(definition);
}

/**
 * `defineController` for code that is itself generic over the kind: the same checks when it runs, but not the one for
 * unknown status fields, which needs to know the kind when it is compiled.
 *
 * @throws InvalidControllerError as `defineController`.
 */
export function controllerFrom<R extends Resource>(definition: ControllerDefinition<R>): Controller<R> {
  const {
    for: resource,
    concurrency = usualPace.concurrency,
    resyncEvery = usualPace.resyncEvery,
    timeout = usualPace.timeout,
  } = definition;
  const name = definition.name ?? `${resource.plural}.${resource.group}`;
  if (!controllerName.test(name)) {
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
    owns: definition.owns ?? [],
    watches: checkedWatches(name, definition.watches ?? []),
    concurrency: whole(name, "concurrency", concurrency, mostConcurrent),
    resyncEvery: positive(name, "resyncEvery", resyncEvery),
    timeout: positive(name, "timeout", timeout),
    retry: retryFrom(name, definition.retry),
    limits: limitsFrom(name, definition.limits),
    finalizer: definition.finalize === undefined ? undefined : finalizerOf(name),
    reconcile: (context) => definition.reconcile(context),
    finalize: (context) => definition.finalize?.(context) ?? Promise.resolve(),
    needsFinalizer: (object) => definition.needsFinalizer?.(object) ?? true,
    ...(definition.whileDeleting !== undefined && {
      whileDeleting: (context) => definition.whileDeleting?.(context) ?? Promise.resolve(undefined),
    }),
  };
}

/** The finalizer of a controller's objects, if it cleans up after them. */
export const finalizerOf = (controller: string): string => `drover.dev/${controller}`;
