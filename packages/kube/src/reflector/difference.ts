import { keyOf, type KubeObject } from "../kube-object.ts";
import type { Meanings } from "../subscription.ts";
import type { ObjectEvent } from "./object-event.ts";
import { type ResourceVersion, versionOrder } from "./resource-version.ts";
import { isAnnounced, type SeenObject } from "./seen-index.ts";

/** What is known of an object now, and what it means. */
export type Sighting = { readonly object: KubeObject; readonly means: Meanings } & (
  | { readonly by: "watch"; readonly is: "present" | "deleted" }
  | {
      readonly by: "listing";
      readonly is: "present";
      /** The one that a stream begins with. */
      readonly first: boolean;
      /** It counts, though it is older than what was told before. */
      readonly believed: boolean;
      /** A watch has told, or should have, what happened up to this version. */
      readonly watchedUpTo: ResourceVersion | undefined;
    }
);

/**
 * What a sighting tells that was not told before: nothing for a repeat or an older version; the old object's end and
 * the new one's begin where a name came back with another uid.
 *
 * @param seen what was last told of the same key.
 */
export function difference(seen: SeenObject | undefined, sighting: Sighting): readonly ObjectEvent[] {
  const { object, means } = sighting;
  const { uid, resourceVersion } = object.metadata;
  const order = seen === undefined ? "newer" : versionOrder(resourceVersion, seen.resourceVersion);
  const listing = sighting.by === "listing" ? sighting : undefined;
  if (order === "older" && listing?.believed !== true) return [];
  const replaced = seen !== undefined && seen.uid !== uid;
  const concernsNobody = Object.keys(means).length === 0;
  if (seen === undefined && concernsNobody) return [];
  const missed = listing !== undefined && isMissed(resourceVersion, listing);
  const now = { key: keyOf(object), uid, resourceVersion, object, means, previous: seen, missed };
  const end = replaced ? [ended(seen, missed)] : [];
  if (sighting.is === "deleted") {
    return [...end, { ...now, type: "deleted", previous: replaced ? undefined : seen }];
  }
  if (seen === undefined || replaced || isAnnounced(seen)) {
    return [...end, { ...now, type: listing?.first === true ? "listed" : "added" }];
  }
  if (order !== "same") return [{ ...now, type: "modified" }];
  const toldToAll = Object.keys(means).every((id) => Object.hasOwn(seen.meant, id));
  return toldToAll ? [] : [{ ...now, type: "listed", missed: false }];
}

/** The end of an object that nobody told of: a listing lacks it, or its name is another object's now. */
export const ended = (seen: SeenObject, missed: boolean): ObjectEvent => ({
  type: "deleted",
  key: seen.key,
  uid: seen.uid,
  resourceVersion: seen.resourceVersion,
  object: undefined,
  means: {},
  previous: seen,
  missed,
});

type Listed = Extract<Sighting, { by: "listing" }>;

function isMissed(version: ResourceVersion, { first, believed, watchedUpTo }: Listed): boolean {
  if (first || believed || watchedUpTo === undefined) return false;
  const order = versionOrder(version, watchedUpTo);
  return order === "older" || order === "same";
}
