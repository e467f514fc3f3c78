import type { Milliseconds } from "./duration.ts";
import type { ObjectKey, ObjectName } from "./object-key.ts";
import type { ObjectMetadata } from "./resource.ts";

/** Where a kind is served: what it takes to write its URL and to recognise its objects. */
export interface ResourceRef {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** An object as the API server holds it: its metadata parsed, the rest as it came, to be parsed by who knows it. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMetadata & { readonly [field: string]: unknown };
  readonly [field: string]: unknown;
}

/** A page of a list. */
export interface ObjectList {
  /** The version of the whole listing; every page of one listing has the same. A watch starts here. */
  readonly resourceVersion: string;
  /** The token of the next page; undefined on the last one. */
  readonly continue: string | undefined;
  /** How many come after this page, where the server says so. */
  readonly remaining: number | undefined;
  readonly items: readonly KubeObject[];
}

/** A `meta/v1` LabelSelector: all of it must hold; an empty one holds always. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>> | undefined;
  readonly matchExpressions?: readonly LabelRequirement[] | undefined;
}

export type LabelRequirement =
  | { readonly key: string; readonly operator: "In" | "NotIn"; readonly values: readonly string[] }
  | { readonly key: string; readonly operator: "Exists" | "DoesNotExist" };

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
  readonly metadata: ObjectName & {
    readonly [field in keyof ObjectMetadata]?: ObjectMetadata[field] | undefined;
  };
  readonly [field: string]: unknown;
}

/**
 * The objects of the API server, as a run reads and writes them.
 *
 * Every method throws ApiError when the server says no, ConnectionError when no whole answer came, MalformedReplyError
 * when what answered is no API server, WrongScopeError for a key that does not fit the kind, or the signal's reason.
 * Reads are repeated a little; of writes only what the server refused with 429, for then it did nothing.
 */
export interface ObjectClient {
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
  /** Asks for deletion. False when there was nothing to delete. */
  delete(ref: ResourceRef, key: ObjectKey, options?: DeleteOptions): Promise<boolean>;
}

/** A client that is not there: each of its methods fails with the error that this makes. */
export function absentClient(why: () => Error): ObjectClient {
  const fail = (): Promise<never> => Promise.reject(why());
  return { get: fail, list: fail, find: fail, create: fail, replace: fail, patch: fail, delete: fail };
}
