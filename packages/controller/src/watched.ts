import type { Log } from "./controller.ts";
import { InvalidControllerError } from "./invalid-controller.ts";
import type { ObjectKey } from "./object-key.ts";
import type { Naming, Predicates } from "./reconcile-function.ts";
import type { ObjectMetadata, Resource } from "./resource.ts";

/** A kind, by what it takes to watch it: a resource, or one of Kubernetes' or somebody else's, written out. */
export type Kind = Pick<Resource, "group" | "version" | "kind" | "plural" | "scope">;

/** A kind whose objects the controller makes: one that changes wakes its controller owner. */
export interface Owned extends Predicates {
  readonly kind: Kind;
  /**
   * Runs that follow within 10 s upon one that was done or waits know what that one has found, has written with `guard`, and
   * what was told since, and spare the API server their lists (`client.find`). Guaranteed: all that the key was woken for,
   * and all that its runs have written. Where `changed` is given, the rest of an object may be older. Where it is not
   * certain, they list live. Up to 64 KiB of a key's are in Redis for so long. Default: every run lists live.
   */
  readonly copies?: boolean;
}

/** Another kind whose objects concern the controller's. */
export interface Watched extends Predicates {
  readonly kind: Kind;
  /** Whom an object concerns: declared, or asked of the function, as a job of its own. */
  readonly names: Naming | NamesInCode;
}

/**
 * Whom an object concerns. It is called with the object as it is now, whenever it has changed, at least once; those that
 * it named the last time are woken, too, and need not be told. What it throws is tried again, with backoff.
 */
export type NamesInCode = (context: NamesContext) => Promise<readonly ObjectKey[]>;

export interface NamesContext {
  readonly key: ObjectKey;
  /** The object, read live. Nobody is asked about one that is gone. */
  readonly object: { readonly metadata: ObjectMetadata; readonly [field: string]: unknown };
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** A kind whose objects' names are asked of the function. */
export type WatchedInCode = Watched & { readonly names: NamesInCode };

export const isInCode = (watched: Watched): watched is WatchedInCode => typeof watched.names === "function";

/** @throws InvalidControllerError when the code is asked twice about one kind: both answers would be one queue's. */
export function checkedWatches(controller: string, watches: readonly Watched[]): readonly Watched[] {
  const asked = watches
    .filter(isInCode)
    .map(({ kind: { plural, group } }) => (group === "" ? plural : `${plural}.${group}`));
  const twice = asked.find((kind, index) => asked.indexOf(kind) !== index);
  if (twice === undefined) return watches;
  throw new InvalidControllerError(
    controller,
    "watches",
    `has two functions for one kind (${twice}). Make them one, which answers with the keys of both.`,
  );
}
