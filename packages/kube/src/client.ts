import type {
  KubeObject,
  ObjectClient,
  ObjectKey,
  ObjectList,
  ObjectMetadata,
  ObjectName,
  ReadOptions,
  RequestOptions,
  ResourceRef,
} from "@drover/controller";
import type { WatchFrame } from "./watch-frames.ts";

export type {
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

/** The API server, for any kind: all that a run may do (`ObjectClient`), and what processes do beside it. */
export interface KubeClient extends ObjectClient {
  /** Puts a Pod that is on no node onto this one. Throws a Conflict when it is on one already, or has another uid. */
  bind(pod: ObjectName & Pick<ObjectMetadata, "uid">, node: string, options?: RequestOptions): Promise<void>;
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
