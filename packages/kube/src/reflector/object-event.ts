import type { ObjectKey } from "@drover/controller";
import type { KubeObject } from "../objects/kube-object.ts";
import type { MappingResults } from "./mapping-result.ts";
import type { ResourceVersion } from "../objects/resource-version.ts";
import type { SeenObject } from "./seen-index.ts";

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
