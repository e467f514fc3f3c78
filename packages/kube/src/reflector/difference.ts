import type { ObjectMetadata } from "@drover/controller";
import { fingerprint, lastApplied } from "../fingerprint.ts";
import { keyOf, type KubeObject } from "../kube-object.ts";
import type { ObjectEvent } from "./object-event.ts";
import { versionOrder } from "./resource-version.ts";
import type { SeenObject } from "./seen-index.ts";

/** What is known of an object now. */
export type Sighting =
  /** Listed or watched. `first`: by the listing that a stream begins with. `believed`: though it is older. */
  | {
      readonly is: "present";
      readonly object: KubeObject;
      readonly first?: boolean;
      readonly believed?: boolean;
    }
  /** A watch says that it was deleted. */
  | { readonly is: "deleted"; readonly object: KubeObject };

/**
 * What a sighting tells that was not told before: nothing for a repeat or an older version; the old object's end and
 * the new one's begin where a name came back with another uid.
 *
 * @param seen what was last told of the same key.
 */
export function difference(
  seen: SeenObject | undefined,
  sighting: Sighting,
  metadataOnly: boolean,
): readonly ObjectEvent[] {
  const now = seenFrom(sighting.object);
  const order =
    seen === undefined ? "newer" : versionOrder(now.object.resourceVersion, seen.object.resourceVersion);
  const isOlder = order === "older" && !(sighting.is === "present" && sighting.believed === true);
  if (isOlder) return [];
  const previous = seen === undefined ? {} : { previous: seen };
  const replaced = seen !== undefined && seen.object.uid !== now.object.uid;
  const end = replaced ? [ended(seen)] : [];
  if (sighting.is === "deleted") return [...end, { type: "deleted", ...now, ...(replaced ? {} : previous) }];
  if (order === "same" && !replaced) return [];
  const whole = metadataOnly ? {} : { whole: sighting.object };
  if (seen !== undefined && !replaced) return [{ type: "modified", ...now, ...whole, ...previous }];
  return [...end, { type: sighting.first === true ? "listed" : "added", ...now, ...whole, ...previous }];
}

/** The end of an object that nobody told of: a listing lacks it, or its name is another object's now. */
export const ended = (seen: SeenObject): ObjectEvent => ({ type: "deleted", ...seen, previous: seen });

/** What is kept of an object: what controllers use, without what is large and says nothing. */
export function seenFrom(object: KubeObject): SeenObject {
  const { metadata } = object;
  const { name, uid, resourceVersion } = metadata;
  const kept: ObjectMetadata = {
    name,
    uid,
    resourceVersion,
    ...defined("namespace", metadata.namespace),
    ...defined("generation", metadata.generation),
    ...defined("creationTimestamp", metadata.creationTimestamp),
    ...defined("deletionTimestamp", metadata.deletionTimestamp),
    ...defined("finalizers", metadata.finalizers),
    ...defined("labels", metadata.labels),
    ...defined("annotations", withoutLastApplied(metadata.annotations)),
    ...defined("ownerReferences", metadata.ownerReferences),
  };
  return { key: keyOf(object), object: kept, fingerprint: fingerprint(kept) };
}

function defined<Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): Partial<Record<Name, Value>>;
function defined(name: string, value: unknown): Partial<Record<string, unknown>> {
  return value === undefined ? {} : { [name]: value };
}

function withoutLastApplied(
  annotations: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> | undefined {
  if (annotations?.[lastApplied] === undefined) return annotations;
  return Object.fromEntries(Object.entries(annotations).filter(([name]) => name !== lastApplied));
}
