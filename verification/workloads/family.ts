// A family of kinds whose controllers are compared: the parts of the suite that are not the same for all of them.
import type { JsonObject } from "../../packages/sandbox/src/json.ts";
import type { Naming } from "./canonical/canonical.ts";
import type { Allowed } from "./canonical/compare.ts";
import type { Seen, World } from "./observe.ts";
import type { Action, Sequence } from "./sequences/actions.ts";
import type { Kind } from "./sequences/kinds.ts";

/** What was seen before an action and while it was done, until the world had settled. */
export interface Span {
  readonly action: Action;
  readonly before: readonly Seen[];
  readonly during: readonly Seen[];
}

/** Folders in `functions`. */
export type FunctionName = "replicaset" | "deployment" | "job" | "cronjob" | "endpointslice" | "daemonset";

/** The options of a run of most families. */
export const usualOptions = { atOnce: 24, shrink: 3, repeat: 4 };

export interface Family {
  readonly name: string;
  /** The kinds that its users make, owners first, and `Pod`: these are watched, compared and cleared. */
  readonly kinds: readonly Kind[];
  /** The kind whose objects create pods, and write Events about them. */
  readonly podOwner: Kind;
  /** The functions that replace this family's controllers. */
  readonly functions: readonly FunctionName[];
  /** Settings of these functions, by the names of environment variables. */
  readonly settings?: Readonly<Record<string, string>>;
  /** kube-controller-manager's `--controllers` beside the functions that replace this family's. */
  readonly controllers: readonly string[];
  /** Controllers that neither side runs, such as `-a`: they do at any time what this family's do, too. */
  readonly without?: readonly string[];
  /** An object, and the state that it comes to once the controllers are at work; or an object of another kind, if it has one. */
  readonly warmUp: {
    readonly kind: Kind;
    readonly object: JsonObject;
    readonly shownBy?: Kind;
    readonly isDone: (object: JsonObject) => boolean;
  };
  /** The nodes' labels, one entry for each node. Default: one node. */
  readonly nodes?: readonly Readonly<Record<string, string>>[];
  /** More flags for kube-controller-manager. */
  readonly controllerManagerArgs?: readonly string[];
  /** Nothing has changed for so long, and nothing is known that must still come: it has settled. */
  readonly quietMs: number;
  /** A world that has not settled by then is compared as it is. A quota that was lifted is noticed after a back-off. */
  readonly patienceMs: number;
  /** Options of a run that asks for no others. Default: `usualOptions`. */
  readonly defaults?: { readonly atOnce: number; readonly shrink: number; readonly repeat: number };
  readonly sequenceOf: (seed: number) => Sequence;
  /** When each action is done, ms since 1970, if it begins now. Without it, each is done as soon as the one before has settled. */
  readonly timesOf?: (actions: readonly Action[], now: number) => readonly number[];
  /**
   * A change that is still to come, in words; undefined if there is none.
   *
   * @param quota the most pods there may be
   */
  readonly unsettled: (world: World, quota: number | undefined) => string | undefined;
  /** The owner of pods, as it was last, lacks an Event that it must have; these are the reasons of those that it has. */
  readonly lacksEvent: (owner: JsonObject, reasons: readonly string[]) => boolean;
  /** The state of a namespace, in a form in which two runs can be compared. */
  readonly state: (world: World, naming: Naming) => JsonObject;
  /** Rules that did not hold at some moment, for people; each once. */
  readonly violations: (span: Span) => readonly string[];
  readonly allowed: readonly Allowed[];
}
