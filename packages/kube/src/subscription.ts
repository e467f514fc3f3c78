import {
  type ObjectKey,
  type ObjectMetadata,
  pausedAnnotation,
  reconcileAtAnnotation,
} from "@drover/controller";
import { type FieldPath, isOfMetadata, valuesAt } from "./field-path.ts";
import { digestOf, type Fingerprint, fingerprint } from "./fingerprint.ts";
import type { KubeObject } from "./kube-object.ts";
import { type LabelSelector, matchesLabels } from "./label-selector.ts";
import { type FiledTerm, filedUnder, soughtBy } from "./filing.ts";
import { isFiling, isLookup, keysFor, type Mapping } from "./mapping.ts";
import type { ResourceRef } from "./resource-ref.ts";
import { unlessTooDeep } from "./unless-too-deep.ts";

/**
 * Why a controller follows a kind: which of its objects concern it, which keys they name, and which changes matter. All
 * is declared, so that it can be done without the controller's code.
 */
export interface Subscription {
  /**
   * Unique among those of a kind, and lasting: what an object meant to a subscription is remembered under its id. One
   * that is declared differently must have another id; then every object is told to it anew.
   */
  readonly id: string;
  /** The kind whose keys are named. */
  readonly for: ResourceRef;
  readonly map: Mapping;
  /** Others concern nobody. An object that no longer matches is told of once more, under the keys that it named. */
  readonly selector?: LabelSelector | undefined;
  /** Left out: all. */
  readonly namespaces?: readonly string[] | undefined;
  /**
   * Only when a value at one of these paths changes, or the object is created, deleted or begins to be deleted, or its
   * annotations `drover.dev/paused` or `drover.dev/reconcile-at` change. Left
   * out: for the controller's own kind all but status (see `fingerprint`), for others every version.
   */
  readonly changed?: readonly FieldPath[] | undefined;
  /** That this finalizer is put on an object is the controller's own doing, and no news to it; that it goes is. */
  readonly ownFinalizer?: string | undefined;
  /** Who is woken for a change is brought the object as it is since. */
  readonly copies?: boolean | undefined;
  /** Of another kind than the controller's: who is woken is told what became of the object, as far as it can be told whole. */
  readonly news?: boolean | undefined;
}

/** What an object means to one subscription. */
export interface Meaning {
  readonly keys: readonly ObjectKey[];
  /** The same for two versions of the object that the subscription need not tell apart. */
  readonly view: Fingerprint;
  /** Of a filing: what it is to be found under. */
  readonly filed?: readonly FiledTerm[];
  /** Of a lookup: what those are found under whom it concerns. */
  readonly sought?: readonly string[];
}

/** The view of what may not have been told yet: no object has it. */
export const untoldView: Fingerprint = "";

/** By subscription. One that is not in it is not concerned. */
export type Meanings = Readonly<Record<string, Meaning>>;

export function meaningsOf(object: KubeObject, subscriptions: readonly Subscription[]): Meanings {
  return Object.fromEntries(
    subscriptions
      .filter((subscription) => isConcerned(object, subscription))
      .map((subscription) => [subscription.id, meaningOf(object, subscription)]),
  );
}

function meaningOf(object: KubeObject, subscription: Subscription): Meaning {
  const { map } = subscription;
  const keys = keysFor(object, subscription);
  if (isFiling(map)) {
    const filed = filedUnder(object, map);
    return { keys, view: digestOf(filed), filed };
  }
  const view = viewOf(object, subscription);
  return isLookup(map) ? { keys, view, sought: soughtBy(object, map) } : { keys, view };
}

/** Whether who is subscribed must hear that an object means this now, and meant that before. */
export function isNews(before: Meaning | undefined, now: Meaning | undefined): boolean {
  if (before === undefined || now === undefined) return before !== now;
  const sameView = before.view === now.view || `${before.view}${ownFinalizerIsOn}` === now.view;
  return !sameView || differ(before.keys, now.keys) || differ(before.sought, now.sought);
}

const differ = (a: readonly string[] = [], b: readonly string[] = []): boolean =>
  a.length !== b.length || a.some((one, index) => one !== b[index]);

/** Whether a subscription looks at more than metadata. */
export const needsWhole = ({ map, changed = [], copies = false, news = false }: Subscription): boolean =>
  copies || news || ("path" in map && !isOfMetadata(map.path)) || !changed.every(isOfMetadata);

function isConcerned({ metadata }: KubeObject, { namespaces, selector }: Subscription): boolean {
  if (namespaces !== undefined && !namespaces.includes(metadata.namespace ?? "")) return false;
  return selector === undefined || matchesLabels(selector, metadata.labels);
}

function viewOf(object: KubeObject, { map, changed, ownFinalizer }: Subscription): Fingerprint {
  const { metadata } = object;
  if (changed !== undefined) {
    const values = changed.map((path) => valuesAt(object, path));
    const asked = map.by === "self" ? annotatedRequests(metadata) : [];
    const viewBy = (matters: unknown): Fingerprint =>
      digestOf([metadata.uid, metadata.deletionTimestamp ?? "", matters, ...asked]);
    // Values that are nested too deep cannot be compared: then every version differs.
    return unlessTooDeep(
      () => viewBy(values),
      () => viewBy(metadata.resourceVersion),
    );
  }
  if (map.by !== "self") return metadata.resourceVersion;
  const { finalizers = [], deletionTimestamp } = metadata;
  const view = fingerprint({ ...metadata, finalizers: finalizers.filter((name) => name !== ownFinalizer) });
  const isOn = ownFinalizer !== undefined && finalizers.includes(ownFinalizer);
  // From an object that is about to go, only its controller takes it.
  return isOn && deletionTimestamp === undefined ? `${view}${ownFinalizerIsOn}` : view;
}

/** The annotations that ask for a run or for none, whatever else of the object matters. Empty where it has neither. */
function annotatedRequests({ annotations = {} }: ObjectMetadata): readonly unknown[] {
  const asked = [annotations[pausedAnnotation] === "true", annotations[reconcileAtAnnotation] ?? ""];
  return asked.some((one) => one !== false && one !== "") ? asked : [];
}

const ownFinalizerIsOn = "+";
