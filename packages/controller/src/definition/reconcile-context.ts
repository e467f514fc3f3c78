import type { Duration } from "../duration.ts";
import type { Immutable } from "./known-fields.ts";
import type { Log } from "../log.ts";
import type { KubeObject, ObjectClient } from "../object/object-client.ts";
import type { ObjectKey } from "../object/object-key.ts";
import type { Condition } from "../resource/condition.ts";
import type { ObjectMetadata, ObjectStatus, Resource, SpecOf, StatusOf } from "../resource/resource.ts";

/** Something that happened to an object, to be published as a Kubernetes Event about it. */
export interface Announcement {
  readonly type: "Normal" | "Warning";
  /** CamelCase: why the Event is published, such as `BucketCreated`. */
  readonly reason: string;
  /** CamelCase: what was done or attempted. */
  readonly action: string;
  /** A sentence for people. Kubernetes keeps 1 kB of it. */
  readonly note: string;
}

/** A write outside of the cluster. */
export interface OutsideWrite {
  readonly does: "create" | "set" | "remove" | "delete";
  /** The target, such as `bucket team-a`, or `versioning of bucket team-a`. */
  readonly target: string;
  /** The written value, if there is one. It is shown: never a secret. */
  readonly value?: unknown;
}

/** Records what a run would write outside of the cluster, in place of writing it. */
export interface OutsidePlan {
  readonly record: (write: OutsideWrite) => void;
  /** Ends the plan: what follows depends on a write that was not made. Always throws. */
  readonly stop: (why: string) => never;
}

/** The argument of a run for a key without an object. */
export type GoneContext = Pick<
  ReconcileContext<Resource>,
  "key" | "log" | "now" | "signal" | "client" | "guard"
>;

/**
 * The argument of one run. The object was read live and parsed just before, or is a cached copy
 * (`ControllerDefinition.copies`).
 */
export interface ReconcileContext<R extends Resource> {
  readonly key: ObjectKey;
  readonly metadata: ObjectMetadata;
  readonly spec: SpecOf<R>;
  /** The status as it was read: a hint, never the truth. Observe the actual state instead. */
  readonly status: ObjectStatus<R>;
  /** The complete object as it was read, for foreign kinds: their schema covers only some fields. */
  readonly object: { readonly metadata: ObjectMetadata; readonly [field: string]: unknown };
  readonly log: Log;
  /** The time. Tests advance it. */
  readonly now: () => Date;
  /** Aborts when the run must stop: after its timeout, before its lease ends, or when the process stops. Pass it on. */
  readonly signal: AbortSignal;
  /**
   * A client for the cluster, with the rights that the function is deployed with: list what it needs in `permissions`.
   * It writes only while the run's lease lasts; after that every write throws a WriteRefusedError and nothing is sent.
   * A function that is called over HTTP has no access to the cluster: every request throws a TerminalError.
   */
  readonly client: ObjectClient;
  /**
   * For writes outside the cluster: call it right before each one. It throws once the run's lease is over, because
   * another worker may then hold the key. In a plan (`drover plan`) it always throws; a function that finds `plan` can
   * record its writes there instead of making them.
   */
  readonly guard: { beforeWrite(): void; readonly plan?: OutsidePlan };
  /**
   * Publishes an Event about the object, best effort; repetitions are counted. A function that is called by webhook has
   * no access to the cluster: there it writes a log line.
   */
  readonly announce: (announcement: Announcement) => void;
  /**
   * The values of a Secret in the object's own namespace, decoded; undefined if the Secret does not exist.
   * Read live, never copied, cached or logged.
   */
  readonly readSecret: (name: string) => Promise<Readonly<Record<string, string>> | undefined>;
}

/** The result of a reconcile. Every part is optional: returning nothing means that the spec is reconciled. */
export interface ReconcileResult<R extends Resource> {
  /** Written to the object's status, with `observedGeneration` and the conditions. If omitted, it stays as it is. */
  readonly status?: Immutable<StatusOf<R>>;
  /** Run again after this time, even if nothing has changed. */
  readonly requeueAfter?: Duration;
  /** The external account that was used, if its `limits` are to count this run. It is remembered per key. */
  readonly account?: string;
  /**
   * The run has failed with this error, as if it had been thrown, and status and conditions are written nevertheless. Ready
   * is that of the error.
   */
  readonly failure?: Error;
  /** The object after a write of the run that was for the version it has read: the status is written to this. */
  readonly object?: KubeObject;
  /**
   * True if a run with the objects that this one has written would do nothing and return the same: then its own writes
   * cause no other run, if lists of these kinds are kept (`copies`).
   */
  readonly hasSeenOwnWrites?: true;
  /** Conditions in addition to Ready; a `Ready` given here replaces the runtime's. Types not given are removed. */
  readonly conditions?: readonly Condition[];
}
