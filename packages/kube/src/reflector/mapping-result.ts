import type { ObjectKey } from "@drover/controller";

/** The meaning of an object for one subscription. The receiver's `map` computes it, and the reflector stores it. */
export interface MappingResult {
  readonly keys: readonly ObjectKey[];
  /** Equal for two versions of the object if their difference does not matter to the subscription. */
  readonly view: View;
  /** For a reverse index only: the object's entries. */
  readonly entries?: readonly IndexEntry[];
  /** For a lookup only: the terms under which the affected objects are found. */
  readonly sought?: readonly string[];
}

/** A short text that is equal for two versions of an object if their difference does not matter to a subscription. */
export type View = string;

/**
 * An entry of an object in a reverse index: a term, and in `note` a selector (as JSON) that must match as well, or
 * nothing. Terms are short and specific, so that a lookup reads only the entries that may match.
 */
export interface IndexEntry {
  readonly term: string;
  readonly note: string;
}

/** The view of an object that may not have been emitted yet: it differs from every object's view. */
export const unemittedView: View = "";

/** By subscription id. A subscription that the object does not affect is missing. */
export type MappingResults = Readonly<Record<string, MappingResult>>;
