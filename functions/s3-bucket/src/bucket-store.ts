import type { RetryAfterError } from "@drover/controller";
import type { S3Credentials } from "./credentials.ts";
import type { Tags } from "./tags.ts";

/** Which bucket. */
export interface BucketAddress {
  readonly name: string;
  readonly region: string;
}

export type Observation = AbsentBucket | PresentBucket | DeniedBucket;

export interface AbsentBucket {
  readonly state: "absent";
  /** By the server's clock, so that it compares with the times of creation that the server gives. */
  readonly at: Date;
}

export interface PresentBucket {
  readonly state: "present";
  /** Has the region where the bucket really is. */
  readonly address: BucketAddress;
  readonly tags: Tags;
}

/** The name may be another account's, or the credentials may not look; S3 does not say which. */
export interface DeniedBucket {
  readonly state: "denied";
  readonly next: Error;
}

/** How the account that the credentials belong to lists the bucket. Another account's bucket is never listed. */
export type Listing =
  | { readonly state: "listed"; readonly createdAt: Date }
  | { readonly state: "not-listed" }
  /** The credentials may not list, or the server cannot. */
  | { readonly state: "unknown" };

export type Creation =
  /** Some servers and regions say so for a bucket that was there already: look again. */
  | { readonly outcome: "created" }
  /** The name is taken within the account. */
  | { readonly outcome: "exists" }
  /** Refused for now, and certainly nothing was made. Every other failure is thrown, and leaves that open. */
  | { readonly outcome: "refused"; readonly next: RetryAfterError };

/** Settings that a spec asks for; one left out is left as it is. */
export interface BucketSettings {
  readonly versioning?: "Enabled" | "Suspended" | undefined;
}

export type SettingName = keyof BucketSettings;

export interface SettingReport {
  readonly setting: SettingName;
  readonly outcome: "unchanged" | "changed" | "not-supported";
}

/** What came of emptying a bucket. */
export interface Emptied {
  /** Items that a listing named before, and does not name any more. */
  readonly deleted: number;
  /** Items that were not deleted, whatever was tried: the key, quoted, and the reason. */
  readonly kept: readonly { readonly key: string; readonly why: string }[];
  /** The key, quoted, at which the next run goes on. Undefined when there is nothing left to try. */
  readonly next: string | undefined;
}

/**
 * The port to buckets, as one run sees it: with one account's credentials, and ended by one signal. The idea is
 * Crossplane's: observe, create, update, delete, each of them safe to repeat.
 *
 * Guarantees: a call that changes something sends at most one request that could be refused half-way, and never repeats
 * one by itself. What comes back is an outcome that a caller decides on; everything else is thrown as what happens
 * next: a TerminalError, a RetryAfterError, or an error that is retried with backoff.
 *
 * Assumption: whoever calls anything but `observe`, `listing` and `isEmpty` has found the bucket to be its own by an
 * observation of the same run. The store does not know owners.
 */
export interface BucketStore {
  observe(address: BucketAddress): Promise<Observation>;
  listing(address: BucketAddress): Promise<Listing>;
  /** No object, no version, no delete marker. */
  isEmpty(address: BucketAddress): Promise<boolean>;
  /** Makes a bucket, carrying the tags from its first moment where the server can do that. */
  create(address: BucketAddress, tags: Tags): Promise<Creation>;
  /**
   * Replaces the tags by what `change` makes of them. They are read again just before: S3 replaces whole sets and takes
   * no condition, so what others write between the reading and the writing is lost. When `change` throws, nothing is
   * written.
   */
  retag(address: BucketAddress, change: (current: Tags) => Tags): Promise<void>;
  /** Makes the settings as asked for: reads each, writes those that differ. */
  update(address: BucketAddress, asked: BucketSettings): Promise<readonly SettingReport[]>;
  /** Deletes some of what is in it, unfinished uploads included: a bounded piece of the work. */
  empty(address: BucketAddress): Promise<Emptied>;
  remove(address: BucketAddress): Promise<"removed" | "absent" | "not-empty">;
}

export interface RunOptions {
  /** Undefined: the function's own, found where AWS tools look for them. */
  readonly credentials: S3Credentials | undefined;
  /** Every request says which account the bucket must belong to. */
  readonly accountId?: string | undefined;
  readonly signal: AbortSignal;
}

/** Where runs get their stores. */
export interface BucketStores {
  /** The region of buckets whose spec names none. */
  readonly defaultRegion: string;
  open(options: RunOptions): BucketStore;
  /** Closes all connections. */
  close(): void;
}
