import type { AccountListing, ExternalPort, PresentResource } from "../external-port.ts";
import { type CreationIntent, wasIntended } from "./creation-intent.ts";
import { reservedPrefix, type Tags } from "./tags.ts";

/**
 * # Which object owns a resource
 *
 * A resource is an object's if it has the object's uid in the tag `drover.dev/owner-uid`. Names are reused, and the same
 * name may be used in two clusters; a uid is unique. `drover.dev/owner` is for human readers.
 *
 * To create a resource and to tag it are two requests on some servers, and a run may die between them. The resource is
 * then our own and has no tag. There are three measures against that:
 *
 * 1. The tags are in the request that creates the resource. If the server applies them, no resource is ever without its
 *    owner. AWS does; many S3 servers ignore the tags of a new bucket.
 * 2. A resource takes two runs. The first sees that it does not exist, and writes the intent into the status. Only the
 *    next run creates it. An untagged resource is ours if it was created within the time of that intent (by the
 *    server's clock), in our account, and is still unused and without any tag. One that existed before the intent, or
 *    was created long after it, never is.
 * 3. A resource that was ours, but has lost its tag because another client removed or replaced its tags, is recognized
 *    by its time of creation.
 *
 * The status can only narrow this down: without the data of the server itself it proves nothing. If it is lost, the
 * resource is left alone, and the message of the object's condition explains how to adopt it. A user that can forge a
 * status could as well write `adopt: IfUnowned`.
 *
 * Caveat: on servers that ignore tags at creation, a resource of the same name that another client creates in the same
 * account between those two runs, and leaves unused and untagged, is taken for ours. That time is milliseconds as a
 * rule. The intent limits it to 30 s, or to an hour if runs are late (`creation-intent.ts`).
 */
export type Ownership =
  | { readonly whose: "ours"; readonly by: "tag"; readonly createdAt?: never }
  | { readonly whose: "ours"; readonly by: "memory"; readonly createdAt: Date }
  /** It has another object's uid. `owner` describes that object. */
  | { readonly whose: "anothers"; readonly owner: string }
  /** No object is known to have it. */
  | { readonly whose: "nobodys" };

export interface Owner {
  readonly uid: string;
  /** `namespace/name`. */
  readonly name: string;
}

/** The data about a resource in the status. */
export interface RecordedResource {
  readonly name?: string | undefined;
  readonly createdAt?: string | undefined;
  readonly creating?: CreationIntent | undefined;
}

const uidKey = `${reservedPrefix}owner-uid`;
const nameKey = `${reservedPrefix}owner`;
const removedKey = `${reservedPrefix}removed-by`;

/** The length of a tag's value that servers accept. */
const maxMarkLength = 256;

/** The tags that mark a resource as an object's. */
export const ownerTags = ({ uid, name }: Owner): Tags =>
  new Map([
    [uidKey, uid],
    [nameKey, name.slice(0, maxMarkLength)],
  ]);

/**
 * The complete set of tags of a resource that is about to be deleted. It still contains the owner's uid, but under a key
 * that does not claim the resource: some servers (moto 5) keep the tags of a deleted resource and give them to the next one
 * of that name, which must not have an owner from the start.
 */
export const removalTags = ({ uid }: Owner): Tags => new Map([[removedKey, uid]]);

/** The owner according to the tags alone. */
export function ownershipByTags(tags: Tags, owner: Owner): Ownership {
  const uid = tags.get(uidKey) ?? tags.get(removedKey);
  if (uid === owner.uid) return { whose: "ours", by: "tag" };
  return tags.has(uidKey)
    ? { whose: "anothers", owner: `${tags.get(nameKey) ?? "unknown"}, uid ${tags.get(uidKey) ?? ""}` }
    : { whose: "nobodys" };
}

/**
 * The owner according to the tags. If they name none, according to the status and the account's list of resources
 * together.
 */
export async function determineOwnership<Seen extends PresentResource>(
  port: ExternalPort<Seen>,
  seen: Seen,
  owner: Owner,
  recorded: RecordedResource,
): Promise<Ownership> {
  const byTags = ownershipByTags(seen.tags, owner);
  const isRecorded = recorded.creating !== undefined || recorded.createdAt !== undefined;
  if (byTags.whose !== "nobodys" || !isRecorded) return byTags;
  const listing = await port.listing(seen.name);
  if (listing.state !== "listed") return byTags;
  const { createdAt } = listing;
  if (isRecordedResource(recorded, seen.name, listing)) return { whose: "ours", by: "memory", createdAt };
  const fresh = wasIntended(recorded.creating, seen.name, createdAt) && !hasTags(seen.tags);
  return fresh && (await port.isUnused(seen)) ? { whose: "ours", by: "memory", createdAt } : byTags;
}

/** Checks if a resource without an owner may be adopted: it must be known to be in our account. */
export async function mayAdopt(
  port: ExternalPort,
  { name, tags }: PresentResource,
): Promise<"yes" | "another-account" | "unknown-account" | "being-removed"> {
  if (tags.has(removedKey)) return "being-removed";
  switch ((await port.listing(name)).state) {
    case "listed":
      return "yes";
    case "not-listed":
      return "another-account";
    case "unknown":
      return port.isAccountChecked ? "yes" : "unknown-account";
  }
}

const isRecordedResource = (
  recorded: RecordedResource,
  name: string,
  { createdAt }: Extract<AccountListing, { state: "listed" }>,
): boolean => recorded.name === name && recorded.createdAt === createdAt.toISOString();

/** True if there is any tag, except one that a deleted resource has left behind. */
const hasTags = (tags: Tags): boolean => [...tags.keys()].some((key) => key !== removedKey);
