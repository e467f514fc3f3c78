import type { RetryAfterError } from "@drover/controller";
import type { S3Credentials } from "./credentials.ts";
import type { Tags } from "./ownership/tags.ts";

/** The address of a bucket. */
export interface BucketAddress {
  readonly name: string;
  readonly region: string;
}

export type Observation = AbsentBucket | PresentBucket | DeniedBucket;

export interface AbsentBucket {
  readonly state: "absent";
  /** By the server's clock, so that it can be compared with the server's times of creation. */
  readonly at: Date;
}

export interface PresentBucket {
  readonly state: "present";
  /** With the region where the bucket really is. */
  readonly address: BucketAddress;
  readonly tags: Tags;
}

/** Another account has the name, or the credentials may not read the bucket. S3 does not distinguish the two. */
export interface DeniedBucket {
  readonly state: "denied";
  readonly error: Error;
}

/** The bucket in the list of the account that the credentials belong to. A bucket of another account is never in it. */
export type AccountListing =
  | { readonly state: "listed"; readonly createdAt: Date }
  | { readonly state: "not-listed" }
  /** The credentials may not list buckets, or the server cannot. */
  | { readonly state: "unknown" };

export type Creation =
  /** Some servers and regions also answer this for a bucket that existed before: observe it again. */
  | { readonly outcome: "created" }
  /** The account has a bucket of this name already. */
  | { readonly outcome: "exists" }
  /**
   * Refused for now, and certainly nothing was created. Every other failure is thrown: then a bucket may have been
   * created.
   */
  | { readonly outcome: "refused"; readonly error: RetryAfterError };

/** Settings that a spec asks for. A setting that is left out stays as it is. */
export interface BucketSettings {
  readonly versioning?: "Enabled" | "Suspended" | undefined;
}

export type SettingName = keyof BucketSettings;

export interface SettingReport {
  readonly setting: SettingName;
  readonly outcome: "unchanged" | "changed" | "not-supported";
}

/** The result of emptying a bucket. */
export interface EmptyResult {
  /** The number of items that were listed before and are not listed any more. */
  readonly deleted: number;
  /** Items that could not be deleted in any way: the quoted key, and the reason. */
  readonly kept: readonly { readonly key: string; readonly why: string }[];
  /** The quoted key at which the next run continues. Undefined if nothing is left to try. */
  readonly next: string | undefined;
}

/**
 * The port to buckets for one run, with the credentials of one account and one signal that ends it. The idea is
 * Crossplane's: observe, create, update, delete, each of them safe to repeat.
 *
 * Guarantees: a call that changes something sends at most one request that could be refused half-way, and never repeats
 * one by itself. It returns an outcome that the caller decides on. Everything else is thrown, as the error that defines
 * what happens next: a TerminalError, a RetryAfterError, or an error that is retried with backoff.
 *
 * Assumption: before a caller uses any method but `observe`, `listing` and `isEmpty`, it has observed in the same run
 * that the bucket is its own. The store does not check owners.
 */
export interface BucketStore {
  observe(address: BucketAddress): Promise<Observation>;
  listing(address: BucketAddress): Promise<AccountListing>;
  /** True if the bucket has no object, no version and no delete marker. */
  isEmpty(address: BucketAddress): Promise<boolean>;
  /** Creates a bucket. If the server supports it, the bucket has the tags from its first moment. */
  create(address: BucketAddress, tags: Tags): Promise<Creation>;
  /**
   * Replaces the tags by the result of `change`. The tags are read just before: S3 replaces complete sets and supports
   * no condition, so tags that others write between this read and the write are lost. If `change` throws, nothing is
   * written.
   */
  retag(address: BucketAddress, change: (current: Tags) => Tags): Promise<void>;
  /** Applies the settings: reads each, and writes those that differ. */
  update(address: BucketAddress, asked: BucketSettings): Promise<readonly SettingReport[]>;
  /** Deletes a bounded part of the contents, including unfinished uploads. */
  empty(address: BucketAddress): Promise<EmptyResult>;
  remove(address: BucketAddress): Promise<"removed" | "absent" | "not-empty">;
}

export interface StoreOptions {
  /** Undefined: the function's own credentials, from the places where AWS tools look for them. */
  readonly credentials: S3Credentials | undefined;
  /** Every request contains the account that the bucket must belong to. */
  readonly accountId?: string | undefined;
  readonly signal: AbortSignal;
}

/** Opens the stores of runs. */
export interface BucketStores {
  /** The region of buckets if their spec names none. */
  readonly defaultRegion: string;
  open(options: StoreOptions): BucketStore;
  /** Closes all connections. */
  close(): void;
}
