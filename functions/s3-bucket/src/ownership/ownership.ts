import type { BucketStore, AccountListing, PresentBucket } from "../bucket-store.ts";
import { type CreationIntent, wasIntended } from "./creation-intent.ts";
import { reservedPrefix, tagLimits, type Tags } from "./tags.ts";

/**
 * # Which object owns a bucket
 *
 * A bucket is an object's if it has the object's uid in the tag `drover.dev/owner-uid`. Names are reused, and the same
 * name may be used in two clusters; a uid is unique. `drover.dev/owner` is for human readers.
 *
 * To create a bucket and to tag it are two requests, and a run may die between them. The bucket is then our own and has
 * no tag. There are three measures against that:
 *
 * 1. The tags are in the request that creates the bucket. AWS applies them, so there no bucket is ever without its
 *    owner. Other servers ignore them.
 * 2. A bucket takes two runs. The first sees that the bucket does not exist, and writes the intent into the status.
 *    Only the next run creates it. An untagged bucket is ours if it was created within the time of that intent (by the
 *    server's clock), in our account, and is still empty and without any tag. One that existed before the intent, or
 *    was created long after it, never is.
 * 3. A bucket that was ours, but has lost its tag because another client removed or replaced its tags, is recognized by
 *    its time of creation.
 *
 * The status can only narrow this down: without the data of S3 itself it proves nothing. If it is lost, the bucket is
 * left alone, and the message of the object's condition explains how to adopt it. A user that can forge a status could
 * as well write `adopt: IfUnowned`.
 *
 * Caveat: on servers that ignore tags at creation, a bucket of the same name that another client creates in the same
 * account between those two runs, and leaves empty and untagged, is taken for ours. That time is milliseconds as a
 * rule. The intent limits it to 30 s, or to an hour if runs are late (`creation-intent.ts`).
 */
export type BucketOwnership =
  | { readonly whose: "ours"; readonly by: "tag"; readonly createdAt?: never }
  | { readonly whose: "ours"; readonly by: "memory"; readonly createdAt: Date }
  /** It has another object's uid. `owner` describes that object. */
  | { readonly whose: "anothers"; readonly owner: string }
  /** No Bucket object is known to have it. */
  | { readonly whose: "nobodys" };

export interface BucketOwner {
  readonly uid: string;
  /** `namespace/name`. */
  readonly name: string;
}

/** The data about a bucket in the status. */
export interface RecordedBucket {
  readonly bucketName?: string | undefined;
  readonly createdAt?: string | undefined;
  readonly creating?: CreationIntent | undefined;
}

const uidKey = `${reservedPrefix}owner-uid`;
const nameKey = `${reservedPrefix}owner`;
const removedKey = `${reservedPrefix}removed-by`;

/** The tags that mark a bucket as an object's. */
export const ownerTags = ({ uid, name }: BucketOwner): Tags =>
  new Map([
    [uidKey, uid],
    [nameKey, name.slice(0, tagLimits.valueLength)],
  ]);

/**
 * The complete set of tags of a bucket that is about to be deleted. It still contains the owner's uid, but under a key
 * that does not claim the bucket: some servers (moto 5) keep the tags of a deleted bucket and give them to the next one
 * of that name, which must not seem to have an owner from the start.
 */
export const removalTags = ({ uid }: BucketOwner): Tags => new Map([[removedKey, uid]]);

/** The owner according to the tags alone. */
export function ownershipByTags(tags: Tags, owner: BucketOwner): BucketOwnership {
  const uid = tags.get(uidKey) ?? tags.get(removedKey);
  if (uid === owner.uid) return { whose: "ours", by: "tag" };
  return tags.has(uidKey)
    ? { whose: "anothers", owner: `${tags.get(nameKey) ?? "unknown"}, uid ${tags.get(uidKey) ?? ""}` }
    : { whose: "nobodys" };
}

/**
 * The owner according to the tags. If they name none, according to the status and the account's list of buckets
 * together.
 */
export async function determineOwnership(
  store: BucketStore,
  { address, tags }: PresentBucket,
  owner: BucketOwner,
  memory: RecordedBucket,
): Promise<BucketOwnership> {
  const byTags = ownershipByTags(tags, owner);
  const remembers = memory.creating !== undefined || memory.createdAt !== undefined;
  if (byTags.whose !== "nobodys" || !remembers) return byTags;
  const listing = await store.listing(address);
  if (listing.state !== "listed") return byTags;
  const { createdAt } = listing;
  if (isRecordedBucket(memory, address.name, listing)) return { whose: "ours", by: "memory", createdAt };
  const fresh = wasIntended(memory.creating, address.name, createdAt) && !hasTags(tags);
  return fresh && (await store.isEmpty(address)) ? { whose: "ours", by: "memory", createdAt } : byTags;
}

/** Checks if a bucket without an owner may be adopted: it must be known to be in our account. */
export async function mayAdopt(
  store: BucketStore,
  { address, tags }: PresentBucket,
  accountId: string | undefined,
): Promise<"yes" | "another-account" | "unknown-account" | "being-removed"> {
  if (tags.has(removedKey)) return "being-removed";
  switch ((await store.listing(address)).state) {
    case "listed":
      return "yes";
    case "not-listed":
      return "another-account";
    case "unknown":
      // Every request contained the account, so the server would have refused another account's bucket.
      return accountId === undefined ? "unknown-account" : "yes";
  }
}

const isRecordedBucket = (
  memory: RecordedBucket,
  name: string,
  { createdAt }: Extract<AccountListing, { state: "listed" }>,
): boolean => memory.bucketName === name && memory.createdAt === createdAt.toISOString();

/** True if there is any tag, except one that a deleted bucket has left behind. */
const hasTags = (tags: Tags): boolean => [...tags.keys()].some((key) => key !== removedKey);
