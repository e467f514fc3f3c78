import type { Milliseconds } from "../duration.ts";
import type { ObjectKey, ObjectName } from "./object-key.ts";
import type { ObjectMetadata } from "../resource/resource.ts";

/** Identifies a kind in the API: the parts of its URL, and the fields by which its objects are recognised. */
export interface ResourceRef {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** An object as the API server returns it: its metadata is parsed, the other fields are not. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMetadata & { readonly [field: string]: unknown };
  readonly [field: string]: unknown;
}

/** A page of a list. */
export interface ObjectList {
  /** The version of the complete list; all pages of one list have the same. A watch starts here. */
  readonly resourceVersion: string;
  /** The token of the next page; undefined on the last page. */
  readonly continue: string | undefined;
  /** The number of objects after this page, if the server returns it. */
  readonly remaining: number | undefined;
  readonly items: readonly KubeObject[];
}

/** A `meta/v1` LabelSelector: all its parts must match; an empty one matches everything. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>> | undefined;
  readonly matchExpressions?: readonly LabelRequirement[] | undefined;
}

export type LabelRequirement =
  | { readonly key: string; readonly operator: "In" | "NotIn"; readonly values: readonly string[] }
  | { readonly key: string; readonly operator: "Exists" | "DoesNotExist" };

/** Options of every request. */
export interface RequestOptions {
  /** Ends the request at once, which then throws the signal's reason. */
  readonly signal?: AbortSignal;
  /** Replaces the client's `requestTimeout`. */
  readonly timeout?: Milliseconds;
}

export interface ReadOptions extends RequestOptions {
  /** Maximum number of retries after 429, 5xx or a missing response. Default 2; 0 leaves retries to the caller. */
  readonly retries?: number;
}

export interface ListOptions extends ReadOptions {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** Maximum number of objects in a page; default and maximum 500. */
  readonly limit?: number;
  readonly continue?: string | undefined;
  /** If omitted: the newest state. `0`: any state in the API server's cache. */
  readonly resourceVersion?: string | undefined;
  readonly resourceVersionMatch?: "NotOlderThan" | "Exact" | undefined;
  /** If true, only metadata is requested (`PartialObjectMetadata`). */
  readonly metadataOnly?: boolean;
}

/** Selects the objects of {@link ObjectClient.find}. */
export interface FindOptions extends ReadOptions {
  readonly namespace?: string | undefined;
  readonly selector?: LabelSelector | undefined;
  /** `selector` is sent as `fieldSelector`; `holds` is the same condition for objects that the run already has. */
  readonly fields?: { readonly selector: string; holds(object: KubeObject): boolean } | undefined;
  /** If true, metadata is enough. */
  readonly metadataOnly?: boolean;
  /**
   * Set it if every matching object maps to the run's key, so that its events wake the key. If the run has lists of the
   * kind from before, and no event of the kind has woken the key yet, they count as complete, without a request. For
   * callers that need not find an object at once: a later event causes another run.
   */
  readonly mappedToKey?: boolean | undefined;
  /**
   * Set it if only runs for the same object make matching objects, for example if they are selected by its uid. If this
   * is the first run of an object that was created since, there are none, and no request is needed.
   */
  readonly madeByRuns?: boolean | undefined;
  /** Maximum number of objects in a page, if they are read live. */
  readonly limit?: number;
  /** Called with each page that is read live, before the next one. If it throws, the call ends with this error. */
  readonly onPage?: (objects: readonly KubeObject[]) => void;
}

/** Options of every write. */
export interface CreateOptions extends RequestOptions {
  /**
   * If true, the server does everything but store the result, which it returns. A dry run needs no lease. An object that
   * would be created has the version `0`.
   * @see https://kubernetes.io/docs/reference/using-api/api-concepts/#dry-run
   */
  readonly dryRun?: boolean;
}

/** `status` is written separately from the object: a write to one does not change the other. */
export interface WriteOptions extends CreateOptions {
  readonly subresource?: "status" | undefined;
}

export interface ApplyOptions extends CreateOptions {
  /** `scale`: the object is a Scale of `autoscaling/v1`, and so is the result. */
  readonly subresource?: "status" | "scale" | undefined;
  /**
   * If true, fields that other managers have set to another value are taken from them. Otherwise the request is refused
   * with a Conflict; `fieldConflicts` of `@drover/kube` lists the fields and their managers.
   */
  readonly force?: boolean;
  /**
   * If true, the object gets a controller reference to the object of the run: a change of it wakes that object, and the
   * garbage collector deletes it with that object. Only in a run, and only in the same namespace, or without one.
   */
  readonly owned?: boolean;
}

export type Patch =
  /** RFC 7386. With `metadata.resourceVersion`, the patch is refused if the object has changed. */
  | { readonly type: "merge"; readonly body: object }
  /** RFC 6902. */
  | { readonly type: "json"; readonly body: readonly JsonPatchStep[] };

export type JsonPatchStep =
  | { readonly op: "add" | "replace" | "test"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string }
  | { readonly op: "move" | "copy"; readonly from: string; readonly path: string };

export interface DeleteOptions extends CreateOptions {
  /** Preconditions: the request is refused with a Conflict if the object has another uid or resourceVersion by now. */
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly propagationPolicy?: "Foreground" | "Background" | "Orphan";
  /** Pods only: time until it is killed. 0 removes the object at once: use it only if its processes have ended. */
  readonly gracePeriodSeconds?: number;
}

/** The body of a request that creates or replaces an object. Its kind is that of the reference. */
export interface NewObject {
  readonly metadata: ObjectName & {
    readonly [field in keyof ObjectMetadata]?: ObjectMetadata[field] | undefined;
  };
  readonly [field: string]: unknown;
}

/**
 * Reads and writes objects of the API server in a run.
 *
 * Every method throws ApiError if the server refuses the request, ConnectionError if no complete response arrived,
 * MalformedReplyError if the response is not an API server's, WrongScopeError for a key that does not fit the kind, or
 * the signal's reason. Reads are retried a few times; writes only after 429, because the server then did nothing.
 */
export interface ObjectClient {
  /** The current object, or undefined if it does not exist. A kind that is not served throws `NotServed`. */
  get(ref: ResourceRef, key: ObjectKey, options?: ReadOptions): Promise<KubeObject | undefined>;
  /** One page. */
  list(ref: ResourceRef, options?: ListOptions): Promise<ObjectList>;
  /**
   * All matching objects. They are read live, or, in a run of a controller with copies of the kind (`OwnedKind.copies`),
   * taken from the lists of an earlier run with the same query. Such lists are current only for objects that wake the
   * run's key.
   */
  find(ref: ResourceRef, options?: FindOptions): Promise<readonly KubeObject[]>;
  /** True if the API server serves the kind in any version. If not, its objects are gone: its CRD was deleted. */
  isServed(ref: ResourceRef, options?: ReadOptions): Promise<boolean>;
  create(ref: ResourceRef, object: NewObject, options?: CreateOptions): Promise<KubeObject>;
  /** With `metadata.resourceVersion`, the request is refused if the object has changed. */
  replace(ref: ResourceRef, object: NewObject, options?: WriteOptions): Promise<KubeObject>;
  patch(ref: ResourceRef, key: ObjectKey, patch: Patch, options?: WriteOptions): Promise<KubeObject>;
  /**
   * Server-side apply: makes the object have these fields, and creates it if it does not exist. Fields that an earlier
   * apply had and this one lacks are removed, unless another manager has set them. All other fields are left alone.
   * `metadata.uid` and `metadata.resourceVersion` are preconditions. In a run, the field manager is `drover.dev/` and
   * the name of the controller.
   *
   * @see https://kubernetes.io/docs/reference/using-api/server-side-apply/
   */
  apply(ref: ResourceRef, object: NewObject, options?: ApplyOptions): Promise<KubeObject>;
  /** Requests the deletion. False if the object did not exist. */
  delete(ref: ResourceRef, key: ObjectKey, options?: DeleteOptions): Promise<boolean>;
}

/** A client without a cluster: each of its methods rejects with an error that `why` creates. */
export function unavailableClient(why: () => Error): ObjectClient {
  const fail = (): Promise<never> => Promise.reject(why());
  return {
    get: fail,
    list: fail,
    find: fail,
    isServed: fail,
    create: fail,
    replace: fail,
    patch: fail,
    apply: fail,
    delete: fail,
  };
}
