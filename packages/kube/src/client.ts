import type { Milliseconds, ObjectKey, ObjectMetadata, ObjectName } from "@drover/controller";
import type { KubeObject } from "./kube-object.ts";
import type { LabelSelector } from "./label-selector.ts";
import type { ObjectList } from "./reply.ts";
import type { ResourceRef } from "./resource-ref.ts";
import type { WatchFrame } from "./watch-frames.ts";

/** Options of every request. */
export interface RequestOptions {
  /** Ends the request at once; its reason is what is thrown. */
  readonly signal?: AbortSignal;
  /** Instead of the client's `requestTimeout`. */
  readonly timeout?: Milliseconds;
}

export interface ReadOptions extends RequestOptions {
  /** How often a read is repeated after 429, 5xx or no answer. Default 2; 0 leaves it to the caller. */
  readonly retries?: number;
}

export interface ListOptions extends ReadOptions {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** Objects a page may have; default and most 500. */
  readonly limit?: number;
  readonly continue?: string | undefined;
  /** Left out: the newest state. `0`: any state that a cache holds. */
  readonly resourceVersion?: string | undefined;
  readonly resourceVersionMatch?: "NotOlderThan" | "Exact" | undefined;
  /** Ask for metadata only (`PartialObjectMetadata`). */
  readonly metadataOnly?: boolean;
}

/** Which objects are asked for. */
export interface FindOptions extends ReadOptions {
  readonly namespace?: string | undefined;
  readonly selector?: LabelSelector | undefined;
  /** A `fieldSelector`, and whether it holds for an object that need not be asked for. */
  readonly fields?: { readonly selector: string; holds(object: KubeObject): boolean } | undefined;
  /** Metadata is enough. */
  readonly metadataOnly?: boolean;
  /**
   * All of them name the run's object, and wake it: of a kind of which nothing was told yet there are none, as far as it is
   * known. For who need not find at once what he is told of later.
   */
  readonly naming?: boolean;
}

export interface WatchOptions {
  readonly signal?: AbortSignal;
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly metadataOnly?: boolean;
  /** The watch tells what happened after this version. */
  readonly resourceVersion: string;
  /**
   * Begin with what there is, in a state no older than `resourceVersion` (empty: the newest), up to the bookmark with
   * `initialEventsEnd` (WatchList). A server that knows no such watches answers `Invalid`, or sends no such bookmark.
   */
  readonly sendInitialEvents?: boolean;
  /** Seconds after which the server ends the watch. */
  readonly timeoutSeconds?: number;
  /** Called for every piece that arrives, its headers first, also those of a refusal. */
  readonly heard?: () => void;
  /** Called when the server has agreed to watch. */
  readonly opened?: () => void;
}

/** `status` is written beside the object: a write to one leaves the other alone. */
export interface WriteOptions extends RequestOptions {
  readonly subresource?: "status" | undefined;
}

export type Patch =
  /** RFC 7386. Give `metadata.resourceVersion` to be refused when the object has changed. */
  | { readonly type: "merge"; readonly body: object }
  /** RFC 6902. */
  | { readonly type: "json"; readonly body: readonly JsonPatchStep[] };

export type JsonPatchStep =
  | { readonly op: "add" | "replace" | "test"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string }
  | { readonly op: "move" | "copy"; readonly from: string; readonly path: string };

export interface DeleteOptions extends RequestOptions {
  /** Preconditions: refused as a Conflict when the object is another one by now. */
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly propagationPolicy?: "Foreground" | "Background" | "Orphan";
  /** Of a Pod: until it is killed. 0 removes the object at once, and is for who knows that its processes have ended. */
  readonly gracePeriodSeconds?: number;
}

/** What is sent to create or replace an object: its kind is the reference's. */
export interface NewObject {
  readonly metadata: ObjectName & Partial<ObjectMetadata>;
  readonly [field: string]: unknown;
}

/**
 * The API server, for any kind.
 *
 * Every method throws ApiError when the server says no, ConnectionError when no whole answer came, MalformedReplyError
 * when what answered is no API server, WrongScopeError for a key that does not fit the kind, or the signal's reason.
 * Reads are repeated a little; of writes only what the server refused with 429, for then it did nothing.
 */
export interface KubeClient {
  /** The object now, or undefined when there is none. A kind that is not served throws `NotServed`. */
  get(ref: ResourceRef, key: ObjectKey, options?: ReadOptions): Promise<KubeObject | undefined>;
  /** One page. */
  list(ref: ResourceRef, options?: ListOptions): Promise<ObjectList>;
  /**
   * All objects that are asked for: live, or, in a run of a controller that has copies of the kind (`Owned.copies`), by
   * what the run knows, where an earlier one has asked the same. Only those are known well that concern the run's key.
   */
  find(ref: ResourceRef, options?: FindOptions): Promise<readonly KubeObject[]>;
  create(ref: ResourceRef, object: NewObject, options?: RequestOptions): Promise<KubeObject>;
  /** Give `metadata.resourceVersion` to be refused when the object has changed. */
  replace(ref: ResourceRef, object: NewObject, options?: WriteOptions): Promise<KubeObject>;
  patch(ref: ResourceRef, key: ObjectKey, patch: Patch, options?: WriteOptions): Promise<KubeObject>;
  /** Puts a Pod that is on no node onto this one. Throws a Conflict when it is on one already, or has another uid. */
  bind(pod: ObjectName & Pick<ObjectMetadata, "uid">, node: string, options?: RequestOptions): Promise<void>;
  /** Asks for deletion. False when there was nothing to delete. */
  delete(ref: ResourceRef, key: ObjectKey, options?: DeleteOptions): Promise<boolean>;
  /**
   * Asks what the server thinks of something, such as a SubjectAccessReview: nothing is kept, and the answer's status is
   * what comes back.
   */
  review(ref: ResourceRef, spec: object, options?: ReadOptions): Promise<unknown>;
  /**
   * Opens a watch; the frames, together those that came together, end when the server ends it. Nobody reading is back-pressure: the server waits.
   * It has no deadline of its own once its headers are there: `runReflector` is what watches over it.
   */
  watch(ref: ResourceRef, options: WatchOptions): AsyncIterable<readonly WatchFrame[]>;
  /**
   * A view of this client for one run. `beforeWrite` is called before every mutating request is sent, also before a
   * repeat; when it throws, nothing is sent and the call throws WriteRefusedError.
   */
  guarded(guard: WriteGuard): KubeClient;
  /**
   * A view of this client that does everything as a ServiceAccount, by its rights and in its name. The user behind this
   * client must be allowed to `impersonate` it.
   * @see https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation
   */
  as(account: ServiceAccountName): KubeClient;
  /** Cuts every request and watch off, and gives the connections back. */
  close(): Promise<void>;
}

/** Namespace and name of a ServiceAccount. */
export interface ServiceAccountName {
  readonly namespace: string;
  readonly name: string;
}

export interface WriteGuard {
  beforeWrite(): void;
  /** Told of every write as it begins, also of one that is never sent; answers whom to tell, once, what it came to. */
  follow?(ref: ResourceRef, key: ObjectKey): (outcome: WriteOutcome) => void;
  /** What the run knows without asking. */
  readonly known?: KnownObjects | undefined;
}

/** What a run knows of objects. `query` is a question as text: the same where the same is asked. */
export interface KnownObjects {
  /** All that is known of the kind, where this was asked before and the answer is certain; `naming` as in FindOptions. */
  find(ref: ResourceRef, query: string, naming: boolean): readonly KubeObject[] | undefined;
  /** It was asked, and this is the answer, in the newest state; `items` are whole objects. */
  found(ref: ResourceRef, query: string, answer: Pick<ObjectList, "resourceVersion" | "items">): void;
}

/**
 * What a write came to: the object as it is since; `refused`, and the object is as it was; or `unknown`: no whole answer
 * came, or the object is about to go.
 */
export type WriteOutcome = KubeObject | "refused" | "unknown";
