import type {
  FindOptions,
  KubeObject,
  ObjectClient,
  ObjectKey,
  ObjectList,
  ObjectMetadata,
  ObjectName,
  OwnerReference,
  ReadOptions,
  RequestOptions,
  ResourceRef,
} from "@drover/controller";
import type { PodRequests } from "./pod-requests.ts";
import type { WatchFrame } from "./watch-frames.ts";

export type {
  ApplyOptions,
  CreateOptions,
  DeleteOptions,
  FindOptions,
  JsonPatchStep,
  ListOptions,
  NewObject,
  Patch,
  ReadOptions,
  RequestOptions,
  WriteOptions,
} from "@drover/controller";

export interface WatchOptions {
  readonly signal?: AbortSignal;
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly metadataOnly?: boolean;
  /** The watch sends the changes after this version. */
  readonly resourceVersion: string;
  /**
   * First send the existing objects, in a state no older than `resourceVersion` (empty: the newest), up to the bookmark
   * with `initialEventsEnd` (WatchList). A server without this feature answers `Invalid`, or never sends that bookmark.
   */
  readonly sendInitialEvents?: boolean;
  /** Seconds after which the server ends the watch. */
  readonly timeoutSeconds?: number;
  /** Called when the headers have arrived, also those of a refusal, and for every chunk of the body. */
  readonly onActivity?: () => void;
  /** Called when the server has accepted the watch. */
  readonly onOpen?: () => void;
}

/**
 * A client of the API server for any kind: everything that a run may do (`ObjectClient`), and more for Drover's
 * processes.
 */
export interface KubeClient extends ObjectClient, PodRequests {
  /** Binds a Pod without a node to this node. Throws a Conflict if the Pod has a node already, or another uid. */
  bind(pod: ObjectName & Pick<ObjectMetadata, "uid">, node: string, options?: RequestOptions): Promise<void>;
  /** The version of the API server, such as `v1.36.0`. */
  serverVersion(options?: ReadOptions): Promise<string>;
  /** Creates a review, such as a SubjectAccessReview, and returns its status. The server stores nothing. */
  review(ref: ResourceRef, spec: object, options?: ReadOptions): Promise<unknown>;
  /**
   * Opens a watch, and yields its frames; frames that arrived together are yielded together. It ends when the server
   * ends the watch. While the caller does not read, the server has to wait (back-pressure). The watch has no deadline
   * of its own after its headers: `runReflector` ends watches that have become silent.
   */
  watch(ref: ResourceRef, options: WatchOptions): AsyncIterable<readonly WatchFrame[]>;
  /**
   * A view of this client for one run. `beforeWrite` is called before every mutating request is sent, also before a
   * repeat; if it throws, nothing is sent and the call throws WriteRefusedError.
   */
  guarded(guard: WriteGuard): KubeClient;
  /**
   * A view of this client that sends every request as a ServiceAccount, with its permissions and in its name. The user
   * behind this client must be allowed to `impersonate` it.
   * @see https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation
   */
  as(account: ServiceAccountName): KubeClient;
  /** Aborts every request and watch, and closes the connections. */
  close(): Promise<void>;
}

/** Namespace and name of a ServiceAccount. */
export interface ServiceAccountName {
  readonly namespace: string;
  readonly name: string;
}

export interface WriteGuard {
  beforeWrite(): void;
  /** Called before every write, sent or not. Returns a callback that receives the outcome exactly once. */
  observeWrite?(ref: ResourceRef, key: ObjectKey): (outcome: WriteOutcome) => void;
  /** Objects that the run can use without a request. */
  readonly cache?: ObjectCache | undefined;
  /** The name that the server records as the manager of written fields, in place of the client's. */
  readonly fieldManager?: string | undefined;
  /** The object of the run, which `owned` objects refer to. */
  readonly owner?: RunOwner | undefined;
}

/** A controller reference to the object of a run, and the namespace of that object. */
export interface RunOwner {
  readonly reference: OwnerReference;
  readonly namespace: string | undefined;
}

/** The objects that a run has cached. `query` is a query as text: equal queries have equal texts. */
export interface ObjectCache {
  /**
   * All cached objects of the kind if this query was answered before and the cache is certain, else undefined;
   * `mappedToKey` and `madeByRuns` as in FindOptions.
   */
  find(
    ref: ResourceRef,
    query: string,
    known: Pick<FindOptions, "mappedToKey" | "madeByRuns">,
  ): readonly KubeObject[] | undefined;
  /** Adds the answer to a query, in the newest state. `items` are complete objects. */
  add(ref: ResourceRef, query: string, answer: Pick<ObjectList, "resourceVersion" | "items">): void;
}

/**
 * Outcome of a write: the object after it; `refused`, and the object is unchanged; or `unknown`: the reply is missing,
 * unusable or a 5xx, or does not contain the object (a deletion, a binding).
 */
export type WriteOutcome = KubeObject | "refused" | "unknown";
