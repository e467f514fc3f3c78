import type { BucketStore, Listing, PresentBucket } from "./bucket-store.ts";
import { type CreationIntent, wasIntended } from "./creation-intent.ts";
import { reservedPrefix, tagLimits, type Tags } from "./tags.ts";

/**
 * # Whose bucket is it?
 *
 * A bucket is an object's when it carries the object's uid in the tag `drover.dev/owner-uid`. Names come back and are
 * used twice in two clusters; a uid is given once. `drover.dev/owner` is for people.
 *
 * Making a bucket and tagging it are two requests, and a run may die between them. The bucket is then our own and
 * carries no tag. Three things are done about that:
 *
 * 1. The tags travel with the creation. AWS takes them; there, no bucket is ever without its owner. Others ignore them.
 * 2. Before a bucket is made, a run of its own writes the intent into the status, having seen that there is no such
 *    bucket; only the next run makes it. An untagged bucket is ours when it was made within the time of that intent
 *    (by the server's clock), in our account, and is still empty and without any tag. One that was there before the
 *    intent, or that is made long after it, never is.
 * 3. A bucket that was ours, and whose tag somebody took off or wrote over, is known again by its time of creation.
 *
 * The status only narrows: without what S3 itself says, it proves nothing; and when it is lost, a bucket is left alone
 * and the object's condition says how to adopt it. Whoever can forge a status could as well write `adopt: IfUnowned`.
 *
 * Caveat: on servers that ignore tags at creation, a bucket of the very same name that somebody else makes in the same
 * account between those two runs (30 s at most, milliseconds as a rule), and leaves empty and untagged, is taken for
 * ours.
 */
export type Whose =
  | { readonly whose: "ours"; readonly by: "tag"; readonly createdAt?: never }
  | { readonly whose: "ours"; readonly by: "memory"; readonly createdAt: Date }
  /** It carries another object's uid; `owner` says whose in words. */
  | { readonly whose: "anothers"; readonly owner: string }
  /** No Bucket object's, as far as can be seen. */
  | { readonly whose: "nobodys" };

export interface Owner {
  readonly uid: string;
  /** `namespace/name`. */
  readonly name: string;
}

/** What the status remembers of a bucket. */
export interface BucketMemory {
  readonly bucketName?: string | undefined;
  readonly createdAt?: string | undefined;
  readonly creating?: CreationIntent | undefined;
}

const uidKey = `${reservedPrefix}owner-uid`;
const nameKey = `${reservedPrefix}owner`;
const removedKey = `${reservedPrefix}removed-by`;

/** The marks of a bucket that belongs to an object. */
export const ownerTags = ({ uid, name }: Owner): Tags =>
  new Map([
    [uidKey, uid],
    [nameKey, name.slice(0, tagLimits.valueLength)],
  ]);

/**
 * The whole set of tags of a bucket in its last moments. It still says whose it is, in a key that claims nothing: some
 * servers (moto 5) keep the tags of a deleted bucket and hand them to the next one of that name, which must not be
 * born as somebody else's.
 */
export const removalTags = ({ uid }: Owner): Tags => new Map([[removedKey, uid]]);

/** What the tags alone say. */
export function whoseByTags(tags: Tags, owner: Owner): Whose {
  const uid = tags.get(uidKey) ?? tags.get(removedKey);
  if (uid === owner.uid) return { whose: "ours", by: "tag" };
  return tags.has(uidKey)
    ? { whose: "anothers", owner: `${tags.get(nameKey) ?? "unknown"}, uid ${tags.get(uidKey) ?? ""}` }
    : { whose: "nobodys" };
}

/** What the tags say, and where they say nothing, what the memory and the account's list of buckets say together. */
export async function whoseBucket(
  store: BucketStore,
  { address, tags }: PresentBucket,
  owner: Owner,
  memory: BucketMemory,
): Promise<Whose> {
  const byTags = whoseByTags(tags, owner);
  const remembers = memory.creating !== undefined || memory.createdAt !== undefined;
  if (byTags.whose !== "nobodys" || !remembers) return byTags;
  const listing = await store.listing(address);
  if (listing.state !== "listed") return byTags;
  const { createdAt } = listing;
  if (wasOurs(memory, address.name, listing)) return { whose: "ours", by: "memory", createdAt };
  const fresh = wasIntended(memory.creating, address.name, createdAt) && !hasTags(tags);
  return fresh && (await store.isEmpty(address)) ? { whose: "ours", by: "memory", createdAt } : byTags;
}

/** Whether a bucket that is nobody's may be taken: it must be known to be in our account. */
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
      // Every request named the account, and the server would have refused.
      return accountId === undefined ? "unknown-account" : "yes";
  }
}

const wasOurs = (
  memory: BucketMemory,
  name: string,
  { createdAt }: Extract<Listing, { state: "listed" }>,
): boolean => memory.bucketName === name && memory.createdAt === createdAt.toISOString();

/** Any tag but one left behind by a bucket that is gone. */
const hasTags = (tags: Tags): boolean => [...tags.keys()].some((key) => key !== removedKey);
