import type { JsonObject } from "../../../packages/sandbox/src/json.ts";
import type { Action } from "./actions.ts";

/** What was after one action. */
export interface Moment {
  readonly action: Action;
  readonly state: JsonObject;
}

export interface Trace {
  readonly moments: readonly Moment[];
  /** What did not hold, with the action (from 1 on) in which. */
  /** It ended early: the machine was too busy to do the next action in time. */
  readonly isLate: boolean;
  readonly violations: readonly { readonly action: number; readonly problem: string }[];
}
