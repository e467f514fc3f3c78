import type { Tags } from "./ownership/tags.ts";
import type { Setting } from "./settings/setting.ts";

/** The result of observing a resource. */
export type Observation<Seen extends PresentResource> = Seen | AbsentResource | DeniedResource;

export interface AbsentResource {
  readonly state: "absent";
  /** By the server's clock, so that it can be compared with the server's times of creation. */
  readonly at: Date;
}

/** A resource that exists. A port adds what its own methods need, such as the region. */
export interface PresentResource {
  readonly state: "present";
  readonly name: string;
  /** All tags that Drover may change. */
  readonly tags: Tags;
}

/** Another account has the name, or the credentials may not read the resource, and the server does not distinguish the two. */
export interface DeniedResource {
  readonly state: "denied";
  readonly error: Error;
}

/**
 * The resource in the list of the account that the credentials belong to. A resource of another account is never in it.
 */
export type AccountListing =
  | { readonly state: "listed"; readonly createdAt: Date }
  | { readonly state: "not-listed" }
  /** The credentials may not list the account's resources, or the server cannot. */
  | { readonly state: "unknown" };

export type Creation =
  /** Some servers also answer this for a resource that existed before: it is observed again. */
  | { readonly outcome: "created" }
  /**
   * There is a resource of this name already: it is observed again. `error` counts if it is not seen then: another
   * account has the name. Left out if it is certainly this account's.
   */
  | { readonly outcome: "exists"; readonly error?: Error }
  /**
   * Refused, and certainly nothing was created. Every other failure is thrown: then a resource may have been created.
   */
  | { readonly outcome: "refused"; readonly error: Error };

/** The words for a resource in messages. */
export interface ResourceWords {
  /** The resource, in lower case: `bucket`. */
  readonly noun: string;
  /** The kind of the objects: `Bucket`. */
  readonly kind: string;
  /** The field of the spec that has the resource's name: `spec.bucketName`. */
  readonly nameField: string;
  /** The permission that lists the account's resources: `s3:ListAllMyBuckets`. */
  readonly listPermission: string;
}

/**
 * The port to one external resource for one run: observe, create, update, delete, each of them safe to repeat, as in
 * Crossplane's managed reconciler (https://pkg.go.dev/github.com/crossplane/crossplane-runtime/pkg/reconciler/managed).
 *
 * Guarantees that a port gives: a method that changes something sends at most one request that could be refused
 * half-way, and never repeats one by itself. It returns an outcome that the kit decides on. Everything else is thrown,
 * as the error that defines what happens next: a TerminalError, a RetryAfterError, a ThrottledError, or an error that is
 * retried with backoff. No request lasts longer than `maxRequestTime`.
 *
 * Guarantee of the kit: it calls `retag`, `clear`, `delete` and the writes of `settings` only after it has observed in the same run that
 * the resource is the object's own. A port does not check owners.
 */
export interface ExternalPort<
  Seen extends PresentResource = PresentResource,
  Details extends object = object,
> {
  readonly words: ResourceWords;
  /** The API version of the kind: `s3.drover.dev/v1alpha1`. */
  readonly apiVersion: string;
  /** The name that the spec asks for now. */
  readonly name: string;
  /** True if the name is made of the object's name, and not in its spec. */
  readonly isNameDefault: boolean;
  /** The name that the status records; undefined if no resource has been recorded. */
  readonly recordedName: string | undefined;
  /** The maximum number of tags of a resource. */
  readonly maxTags: number;
  /** The external account that the run uses, for `ReconcileResult.account`. */
  readonly account?: string | undefined;
  /** True if every request is refused that is for a resource of another account than the spec's. */
  readonly isAccountChecked: boolean;
  /** The reason why the server would refuse a name, as a sentence. Undefined for a valid name. */
  nameProblem(name: string): string | undefined;
  observe(name: string): Promise<Observation<Seen>>;
  listing(name: string): Promise<AccountListing>;
  /** True if the resource is as it was right after its creation: nothing is in it or depends on it. */
  isUnused(seen: Seen): Promise<boolean>;
  /** Creates a resource. If the server supports it, the resource has the tags from its first moment. */
  create(tags: Tags): Promise<Creation>;
  /**
   * Reads what it needs for that.
   *
   * @throws TerminalError if the spec asks for something that cannot be changed after the creation.
   */
  rejectImmutable(seen: Seen): Promise<void>;
  /**
   * Replaces the tags by the result of `change`, which gets the tags as they are right before the write. If `change`
   * throws, nothing is written.
   */
  retag(seen: Seen, change: (current: Tags) => Tags): Promise<void>;
  /**
   * The settings, in the order in which they are to be written. If no resource exists, only parts are read and
   * removed.
   */
  settings(seen: Seen | undefined): readonly Setting[];
  /**
   * Why the resource is not usable yet, though nothing is wrong: the server is still setting it up. Left out if it is
   * usable at once.
   */
  pending?(seen: Seen): { readonly reason: string; readonly message: string } | undefined;
  /** The resource's own fields of the status. They must contain its name, as `recordedName` of the next run. */
  details(seen: Seen): Details;
  /** The data that users of the resource need, for `spec.outputs`. */
  outputs(seen: Seen): Readonly<Record<string, string>>;
  /** @throws an error if the resource must not be deleted as it is, for example since something is in it. */
  rejectDeletion(seen: Seen): Promise<void>;
  /**
   * Deletes what must be deleted before the resource, a bounded part of it in one run. Left out if nothing must be.
   *
   * @throws RetryAfterError if something is left.
   */
  clear?(seen: Seen): Promise<void>;
  /**
   * Deletes the resource. It need not exist.
   *
   * @returns `pending` if it will be gone later: then it is observed again.
   */
  delete(seen: Seen): Promise<"deleted" | "pending">;
}
