import type { ObjectKey } from "@drover/controller";
import type { KubeObject } from "../kube-object.ts";
import type { Meanings } from "../subscription.ts";
import type { ResourceVersion } from "./resource-version.ts";
import type { SeenObject } from "./seen-index.ts";

/** What happened to one object since the stream last told of its key. */
export interface ObjectEvent {
  readonly type:
    /** It is there; told by the stream's first listing, or to somebody who subscribed since it was told to others. */
    | "listed"
    /** It is there since: watched, or found by a later listing. */
    | "added"
    | "modified"
    /** It is gone. */
    | "deleted";
  readonly key: ObjectKey;
  readonly uid: string;
  readonly resourceVersion: ResourceVersion;
  /** What was sent of it: whole where the stream asks for more than metadata. Undefined when nobody told of its end. */
  readonly object: KubeObject | undefined;
  /** What it means now, or meant at its end. */
  readonly means: Meanings;
  /** What was last told of the key. On `added` it is another uid: the name came back. */
  readonly previous: SeenObject | undefined;
  /** A listing found it, and the watch should have told it before. */
  readonly missed: boolean;
}

/** What a reflector tells. */
export type ReflectorEvent =
  | ObjectEvent
  /** Everything up to this version was told: the listing is whole. */
  | { readonly type: "synced"; readonly resourceVersion: ResourceVersion }
  /** Nothing else happened up to this version (a bookmark). */
  | { readonly type: "position"; readonly resourceVersion: ResourceVersion };

export const isObjectEvent = (event: ReflectorEvent): event is ObjectEvent =>
  event.type !== "synced" && event.type !== "position";
