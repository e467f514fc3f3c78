import type { ObjectKey, ObjectMetadata } from "@drover/controller";
import type { Fingerprint } from "../fingerprint.ts";
import type { KubeObject } from "../kube-object.ts";
import type { ResourceVersion } from "./resource-version.ts";
import type { SeenObject } from "./seen-index.ts";

/** What happened to one object since the stream last told of its key. */
export interface ObjectEvent {
  readonly type:
    /** It is there; told by the stream's first listing. */
    | "listed"
    /** It is there since: watched, or found by a later listing. */
    | "added"
    | "modified"
    /** It is gone. Where no watch told so, `object` is what was last seen of it. */
    | "deleted";
  readonly key: ObjectKey;
  readonly object: ObjectMetadata;
  /** The whole object, where the stream asks for more than metadata and the object is there. */
  readonly whole?: KubeObject;
  readonly fingerprint: Fingerprint;
  /** What was last told of the key. On `added` it is another uid: the name came back. */
  readonly previous?: SeenObject;
}

/** What a reflector tells. */
export type ReflectorEvent =
  | ObjectEvent
  /** Everything up to this version was told: the listing is whole. */
  | { readonly type: "synced"; readonly resourceVersion: ResourceVersion }
  /** Nothing else happened up to this version (a bookmark). */
  | { readonly type: "position"; readonly resourceVersion: ResourceVersion };
