import { keyOf, type KubeObject, type ResourceVersion, versionOrder } from "../objects/kube-object.ts";
import type { MappingResults } from "./mapping-result.ts";
import { isAnnounced, type SeenObject } from "./seen-index.ts";
import type { ObjectKey } from "@drover/controller";

/** An object as a watch or a list returned it, with its mapping results. */
export type ObservedObject = { readonly object: KubeObject; readonly matched: MappingResults } & (
  | {
      readonly by: "watch";
      readonly is: "present" | "deleted";
      /** True if it was made at this version. */
      readonly created?: true | undefined;
    }
  | {
      readonly by: "listing";
      readonly is: "present";
      /** True for the first list of a stream. */
      readonly first: boolean;
      /** If true, the object counts although it is older than what was emitted before. */
      readonly believed: boolean;
      /** A watch has emitted, or should have emitted, all changes up to this version. */
      readonly watchedUpTo: ResourceVersion | undefined;
    }
);

/**
 * The events that an observed object requires: none for a repeat or an older version. If the name now has another uid,
 * the deletion of the old object comes before the addition of the new one.
 *
 * @param seen the last emitted state of the same key.
 */
export function changeEvents(seen: SeenObject | undefined, observed: ObservedObject): readonly ObjectEvent[] {
  const { object, matched } = observed;
  const { uid, resourceVersion } = object.metadata;
  const order = seen === undefined ? "newer" : versionOrder(resourceVersion, seen.resourceVersion);
  const listing = observed.by === "listing" ? observed : undefined;
  if (order === "older" && listing?.believed !== true) return [];
  const replaced = seen !== undefined && seen.uid !== uid;
  const hasNoMatch = Object.keys(matched).length === 0;
  if (seen === undefined && hasNoMatch) return [];
  const missed = listing !== undefined && isMissed(resourceVersion, listing);
  const now = { key: keyOf(object), uid, resourceVersion, object, matched, previous: seen, missed };
  const end = replaced ? [deletionEvent(seen, missed)] : [];
  if (observed.is === "deleted") {
    return [...end, { ...now, type: "deleted", previous: replaced ? undefined : seen }];
  }
  if (seen === undefined || replaced || isAnnounced(seen)) {
    const created = observed.by === "watch" && observed.created === true;
    const type = listing?.first === true ? "listed" : "added";
    return [...end, { ...now, type, ...(created && { created }) }];
  }
  if (order !== "same") return [{ ...now, type: "modified" }];
  const isEmittedToAll = Object.keys(matched).every((id) => Object.hasOwn(seen.matched, id));
  return isEmittedToAll ? [] : [{ ...now, type: "listed", missed: false }];
}

/** The deletion of an object without a deletion event: a list lacks it, or its name is another object's now. */
export const deletionEvent = (seen: SeenObject, missed: boolean): ObjectEvent => ({
  type: "deleted",
  key: seen.key,
  uid: seen.uid,
  resourceVersion: seen.resourceVersion,
  object: undefined,
  matched: {},
  previous: seen,
  missed,
});

type ListedObject = Extract<ObservedObject, { by: "listing" }>;

function isMissed(version: ResourceVersion, { first, believed, watchedUpTo }: ListedObject): boolean {
  if (first || believed || watchedUpTo === undefined) return false;
  const order = versionOrder(version, watchedUpTo);
  return order === "older" || order === "same";
}

/** A change of one object since the stream last emitted an event for its key. */
export interface ObjectEvent {
  readonly type:
    /** It exists. Found by the stream's first list, or emitted to a subscription that was added later. */
    | "listed"
    /** It was created since: a watch showed it, or a later list. */
    | "added"
    | "modified"
    /** It was deleted. */
    | "deleted";
  readonly key: ObjectKey;
  readonly uid: string;
  readonly resourceVersion: ResourceVersion;
  /** The object as sent: complete if the stream requests more than metadata. Undefined if no deletion event came. */
  readonly object: KubeObject | undefined;
  /** Its mapping results now, or before its deletion. */
  readonly matched: MappingResults;
  /**
   * The last emitted state of the key. On `added` it is an earlier object of this name, with another uid, or the record
   * that is written before the event (`announced`).
   */
  readonly previous: SeenObject | undefined;
  /** True if a list found the change, and the watch should have emitted it before. */
  readonly missed: boolean;
  /** True if a watch showed that it was created at this version. Only on `added`. */
  readonly created?: true;
}

/** An event of a reflector. */
export type ReflectorEvent =
  | ObjectEvent
  /** All changes up to this version were emitted: the list is complete. */
  | { readonly type: "synced"; readonly resourceVersion: ResourceVersion }
  /** No other change has happened up to this version (a bookmark). */
  | { readonly type: "position"; readonly resourceVersion: ResourceVersion };

export const isObjectEvent = (event: ReflectorEvent): event is ObjectEvent =>
  event.type !== "synced" && event.type !== "position";
