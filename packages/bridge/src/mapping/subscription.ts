import {
  type Milliseconds,
  type ObjectMetadata,
  pausedAnnotation,
  reconcileAtAnnotation,
  sessionLabel,
} from "@drover/controller";
import { type FieldPath, isInMetadata, lastAppliedAnnotation, valuesAt } from "@drover/controller";
import {
  type KubeObject,
  type LabelSelector,
  matchesLabels,
  type MappingResult,
  type MappingResults,
  type View,
  type ResourceRef,
} from "@drover/kube";
import { indexEntriesOf, lookupTermsOf } from "./index-entries.ts";
import { isIndexMapping, isLookup, keysFor, type Mapping } from "./mapping.ts";
import { unlessTooDeep, writeJson } from "@drover/json";
import { createHash } from "node:crypto";

/**
 * A controller's interest in a kind: which of its objects affect the controller, which keys they name, and which
 * changes matter. All of it is declared, so it can be evaluated without the controller's code.
 */
export interface Subscription {
  /**
   * Unique among the subscriptions to a kind, and permanent: mapping results are stored under it. A subscription that
   * is declared differently must have another id; then every object is emitted to it again.
   */
  readonly id: string;
  /** The kind of the keys. */
  readonly for: ResourceRef;
  /** The namespaces of the controller's objects: it gets no keys of others, whatever an object names. Left out: all. */
  readonly keysIn?: readonly string[] | undefined;
  readonly map: Mapping;
  /** Other objects are ignored. An object that no longer matches is emitted once more, for the keys that it named. */
  readonly selector?: LabelSelector | undefined;
  /** Left out: all. */
  readonly namespaces?: readonly string[] | undefined;
  /**
   * If set, a change wakes keys only if a value at one of these paths changes, if the object is created, deleted or
   * begins to be deleted, or, for the controller's own kind, if its annotations `drover.dev/paused` or
   * `drover.dev/reconcile-at` or its label `drover.dev/dev` change. Left out: for the controller's own kind every change except of the status (see
   * `fingerprint`), for others every version.
   */
  readonly changed?: readonly FieldPath[] | undefined;
  /** Adding this finalizer wakes no key (the controller added it); removing it does. */
  readonly ownFinalizer?: string | undefined;
  /** The time that a wake waits for further ones. */
  readonly batchFor?: Milliseconds | undefined;
  /** If true, a wake carries the object after the change. */
  readonly copies?: boolean | undefined;
  /** For another kind than the controller's. If true, a wake carries the change, if it can be expressed completely. */
  readonly deltas?: boolean | undefined;
}

export function mappingResultsOf(object: KubeObject, subscriptions: readonly Subscription[]): MappingResults {
  return Object.fromEntries(
    subscriptions
      .filter((subscription) => isSelected(object, subscription))
      .map((subscription) => [subscription.id, mappingResultOf(object, subscription)]),
  );
}

function mappingResultOf(object: KubeObject, subscription: Subscription): MappingResult {
  const { map } = subscription;
  const keys = keysFor(object, subscription);
  if (isIndexMapping(map)) {
    const entries = indexEntriesOf(object, map);
    return { keys, view: digestOf(entries), entries };
  }
  const view = viewOf(object, subscription);
  return isLookup(map) ? { keys, view, sought: lookupTermsOf(object, map) } : { keys, view };
}

/** True if the change between two mapping results must be emitted to the subscription. */
export function isRelevantChange(before: MappingResult | undefined, now: MappingResult | undefined): boolean {
  if (before === undefined || now === undefined) return before !== now;
  const sameView = before.view === now.view || `${before.view}${ownFinalizerMark}` === now.view;
  return !sameView || differ(before.keys, now.keys) || differ(before.sought, now.sought);
}

const differ = (a: readonly string[] = [], b: readonly string[] = []): boolean =>
  a.length !== b.length || a.some((one, index) => one !== b[index]);

/** True if the subscription needs more than metadata. */
export const needsFullObject = ({
  map,
  changed = [],
  copies = false,
  deltas = false,
}: Subscription): boolean =>
  copies || deltas || ("path" in map && !isInMetadata(map.path)) || !changed.every(isInMetadata);

function isSelected({ metadata }: KubeObject, { namespaces, selector }: Subscription): boolean {
  if (namespaces !== undefined && !namespaces.includes(metadata.namespace ?? "")) return false;
  return selector === undefined || matchesLabels(selector, metadata.labels);
}

function viewOf(object: KubeObject, { map, changed, ownFinalizer }: Subscription): View {
  const { metadata } = object;
  if (changed !== undefined) {
    const values = changed.map((path) => valuesAt(object, path));
    const asked = map.by === "self" ? annotatedRequests(metadata) : [];
    const viewBy = (matters: unknown): View =>
      digestOf([metadata.uid, metadata.deletionTimestamp ?? "", matters, ...asked]);
    // Values that are nested too deeply cannot be compared: then every version differs.
    return unlessTooDeep(
      () => viewBy(values),
      () => viewBy(metadata.resourceVersion),
    );
  }
  if (map.by !== "self") return metadata.resourceVersion;
  const { finalizers = [], deletionTimestamp } = metadata;
  const view = fingerprint({ ...metadata, finalizers: finalizers.filter((name) => name !== ownFinalizer) });
  const isOn = ownFinalizer !== undefined && finalizers.includes(ownFinalizer);
  // On an object that is being deleted, only its controller removes the finalizer, so the removal does not matter.
  return isOn && deletionTimestamp === undefined ? `${view}${ownFinalizerMark}` : view;
}

/**
 * The annotations and the label that request a run or hold the object back, whatever `changed` contains. Empty if it has
 * none of them.
 */
function annotatedRequests({ annotations = {}, labels = {} }: ObjectMetadata): readonly unknown[] {
  const asked = [annotations[pausedAnnotation] === "true", annotations[reconcileAtAnnotation] ?? ""];
  const session = labels[sessionLabel];
  return [
    ...(asked.some((one) => one !== false && one !== "") ? asked : []),
    ...(session === undefined ? [] : [{ session }]),
  ];
}

const ownFinalizerMark = "+";

/**
 * The fingerprint of an object's metadata: uid, generation, labels, annotations, finalizers, owners, deletionTimestamp.
 * A change of the status alone does not change it.
 *
 * A kind without generation (Secret, ConfigMap) does not show whether a change matters: each version has another
 * fingerprint.
 */
export function fingerprint(metadata: ObjectMetadata): View {
  const { uid, resourceVersion, generation, labels, annotations } = metadata;
  const { finalizers = [], ownerReferences = [], deletionTimestamp = "" } = metadata;
  const parts = [
    uid,
    generation ?? `version ${resourceVersion}`,
    sorted(labels),
    sorted(annotations),
    finalizers,
    ownerReferences.map((owner) => [owner.uid, owner.controller ?? false]),
    deletionTimestamp,
  ];
  return digestOf(parts);
}

/** A short text that is equal for equal values, and almost never for different ones. */
export const digestOf = (values: readonly unknown[]): View =>
  createHash("sha256").update(writeJson(values)).digest("base64url").slice(0, 16);

const sorted = (map: Readonly<Record<string, string>> = {}): readonly (readonly [string, string])[] =>
  Object.entries(map)
    .filter(([name]) => name !== lastAppliedAnnotation)
    .sort(([a], [b]) => (a < b ? -1 : 1));
