import { randomBytes } from "node:crypto";
import { type ObjectMetadata, redact } from "@drover/controller";
import type { NewObject } from "../client/client.ts";
import { apiVersionOf, type ResourceRef } from "../objects/resource-ref.ts";

/** Something that happened to an object, to be shown with the object (`kubectl describe`). */
export interface RecordedEvent {
  readonly regarding: { readonly ref: ResourceRef; readonly metadata: ObjectMetadata };
  readonly type: "Normal" | "Warning";
  /** CamelCase reason, such as `BucketCreated`. */
  readonly reason: string;
  /** CamelCase name of the action that was done or attempted, such as `CreateBucket`. */
  readonly action: string;
  /** A sentence for people, cut at 1 kB, the most that Kubernetes takes. */
  readonly note: string;
}

/** The reporting controller and process. */
export interface Reporter {
  /** A qualified name, such as `drover.dev/buckets.s3.drover.dev`. */
  readonly controller: string;
  /** Names this process; for example, the pod's name. */
  readonly instance: string;
}

/** Equal for the repeats of one event. */
export const eventIdentity = ({ regarding, type, reason, action, note }: RecordedEvent): string =>
  JSON.stringify([regarding.metadata.uid, type, reason, action, note]);

/** The Event to create, with its count if it was recorded more than once. */
export function eventObject(
  { regarding: { ref, metadata }, type, reason, action, note }: RecordedEvent,
  reporter: Reporter,
  series: Series,
): NewObject {
  const { name, namespace, uid, resourceVersion } = metadata;
  return {
    // Events of cluster-scoped objects live in `default`, as everywhere in Kubernetes.
    metadata: { name: eventName(name), namespace: namespace ?? "default" },
    eventTime: microTime(series.first),
    ...(series.count > 1 ? seriesOf(series) : {}),
    reportingController: shortened(reporter.controller, 128),
    reportingInstance: shortened(reporter.instance, 128),
    type,
    reason: shortened(reason, 128),
    action: shortened(action, 128),
    note: shortened(redact(note), 1_024),
    regarding: { apiVersion: apiVersionOf(ref), kind: ref.kind, name, namespace, uid, resourceVersion },
  };
}

/** Number of occurrences, and the times of the first and the last one. */
export interface Series {
  readonly count: number;
  readonly first: Date;
  readonly last: Date;
}

/** The part of an Event that a repeat changes; Kubernetes accepts no other change. */
export const seriesOf = ({ count, last }: Series) => ({
  series: { count, lastObservedTime: microTime(last) },
});

// An Event's name must be a DNS subdomain of 253 characters; not every object's is.
function eventName(name: string): string {
  const isSubdomain = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/.test(name);
  const stem = isSubdomain ? name.slice(0, 200).replace(/[-.]+$/, "") : "event";
  return `${stem}.${randomBytes(8).toString("hex")}`;
}

/** Kubernetes' MicroTime. */
const microTime = (date: Date): string => date.toISOString().replace("Z", "000Z");

/** Cuts a text to this many bytes, between two characters. */
function shortened(text: string, bytes: number): string {
  const encoded = Buffer.from(text);
  if (encoded.length <= bytes) return text;
  return `${encoded
    .subarray(0, bytes - 6)
    .toString()
    .replace(/\uFFFD+$/, "")}…`;
}
