import type { Duration } from "../duration.ts";
import type { Log } from "../log.ts";
import { InvalidControllerError } from "./invalid-controller.ts";
import type { ObjectKey } from "../object/object-key.ts";
import type { NamesDeclaration, Predicates } from "../function/watched-kind-declaration.ts";
import type { ObjectMetadata, Resource } from "../resource/resource.ts";

/** The fields that are needed to watch a kind: a resource, or a kind that is defined elsewhere, written out. */
export type Kind = Pick<Resource, "group" | "version" | "kind" | "plural" | "scope">;

/** Which changes of which objects wake others, and when. */
export interface Waking extends Predicates {
  /**
   * How long a change waits for further ones before the objects that it affects are reconciled, once for all of them; at
   * most `1m`. An object that is due earlier is reconciled then. Default: not at all.
   */
  readonly batchFor?: Duration | undefined;
}

/** A kind of which the controller creates objects. A change of such an object wakes its controller owner. */
export interface OwnedKind extends Waking {
  readonly kind: Kind;
  /**
   * If true, a run that starts within `copiesFor` (10 s) after a run that was done or waits gets that run's lists, with
   * its writes under `guard` and all changes since, so that `client.find` need not ask the API server. Guaranteed: the
   * lists contain every change that woke the key, and every write of its runs. If `changed` is given, other fields of an
   * object may be older. In case of doubt a run lists live. During this time Redis holds up to 64 KiB of lists for a
   * key. Default: every run lists live.
   */
  readonly copies?: boolean;
  /**
   * If true, declared children (`composeController`) may be in other namespaces than their parent, and cluster-scoped ones
   * may have a parent with a namespace. Such a child has no owner reference: the parent gets a finalizer, and the child
   * names it in an annotation. Users that may write objects of the kind in one namespace can then cause runs in others.
   */
  readonly acrossNamespaces?: boolean;
}

/** Another kind: a change of one of its objects wakes the controller's objects that it affects. */
export type WatchedKind = WakingKind | RelatedKind;

/** A kind with objects that only wake others. */
export interface WakingKind extends Waking {
  readonly kind: Kind;
  /** How the objects that a watched object affects are found: declared, or by the function's code in a separate job. */
  readonly names: NamesDeclaration | NamesInCode;
  readonly related?: false;
}

/** A kind with objects that `compose` gets. They are read live, and a change of one wakes the objects that got it. */
export interface RelatedKind extends Waking {
  readonly kind: Kind;
  /** Which of its objects an object gets: those that affect it by this declaration, or those that the code names. */
  readonly names: NamesDeclaration | RelatedInCode;
  readonly related: true;
}

/**
 * Returns the names of the objects of a related kind that an object gets: in its own namespace, or `namespace/name` if it
 * is cluster-scoped. A change of any object of the kind in that namespace wakes the object.
 */
export type RelatedInCode = (object: NamingObject) => readonly string[];

/** The object that names others, as it was read. Its spec and status are parsed by the schemas of its kind. */
export interface NamingObject {
  readonly metadata: ObjectMetadata;
  readonly spec: unknown;
  readonly status: unknown;
}

/**
 * Returns the keys that an object affects. It is called at least once after each change, with the object as it is now.
 * The keys that it returned last time are woken, too, and need not be returned again. If it throws, it is called again,
 * with backoff.
 */
export type NamesInCode = (context: NamesContext) => Promise<readonly ObjectKey[]>;

export interface NamesContext {
  readonly key: ObjectKey;
  /** The object, read live. The code is not called for an object that is gone. */
  readonly object: { readonly metadata: ObjectMetadata; readonly [field: string]: unknown };
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** A watched kind with `names` in the function's code. */
export type WatchedInCode = WakingKind & { readonly names: NamesInCode };

export const hasNamesInCode = (watched: WatchedKind): watched is WatchedInCode =>
  watched.related !== true && typeof watched.names === "function";

export const isRelated = (watched: WatchedKind): watched is RelatedKind => watched.related === true;

/** @throws InvalidControllerError if one kind has two functions in code: both would use the same queue. */
export function checkedWatches(controller: string, watches: readonly WatchedKind[]): readonly WatchedKind[] {
  const twice = kindTwiceIn(watches.filter(hasNamesInCode).map(({ kind }) => kind));
  if (twice === undefined) return watches;
  throw new InvalidControllerError(
    controller,
    "watches",
    `has two functions for one kind (${twice}). Make them one, which returns the keys of both.`,
  );
}

/** The problem of two entries in `owns` for one kind: a child would have the settings of one of them. */
export const ownedTwice =
  "has two entries for one kind. Make them one, with the settings and the namespaces of both.";

/** @throws InvalidControllerError for two entries for one kind. */
export function checkedOwns(controller: string, owns: readonly OwnedKind[]): readonly OwnedKind[] {
  if (kindTwiceIn(owns.map(({ kind }) => kind)) === undefined) return owns;
  throw new InvalidControllerError(controller, "owns", ownedTwice);
}

/** A kind that occurs twice, in any version, as `deployments.apps`. */
export function kindTwiceIn(kinds: readonly Pick<Kind, "group" | "plural">[]): string | undefined {
  const names = kinds.map(({ plural, group }) => (group === "" ? plural : `${plural}.${group}`));
  return names.find((name, i) => names.indexOf(name) !== i);
}
