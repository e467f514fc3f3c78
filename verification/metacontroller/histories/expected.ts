import type { JsonObject } from "../../../packages/sandbox/src/json.ts";
import { type Action, type ChildId, childId } from "./actions.ts";

/** What should exist after some actions of a history. */
export interface Expected {
  /** True if the parent exists. */
  readonly parent: boolean;
  readonly declared: readonly JsonObject[];
  /** Children that the API server refuses. */
  readonly refused: readonly ChildId[];
  /** Names that objects have which are not children. */
  readonly taken: readonly ChildId[];
}

export const nothing: Expected = { parent: false, declared: [], refused: [], taken: [] };

/** The expected state after one more action. */
export function after(expected: Expected, action: Action): Expected {
  switch (action.do) {
    case "create":
      return { ...expected, parent: true, declared: action.children, refused: [] };
    case "declare":
      return { ...expected, declared: action.children, refused: action.refused };
    case "delete":
      return { ...expected, parent: false, declared: [], refused: [] };
    case "take":
      return { ...expected, taken: [...expected.taken, childId(action.object)] };
    case "free":
      return { ...expected, taken: expected.taken.filter((id) => id !== action.child) };
    case "restart":
      return after(expected, action.meanwhile);
    case "deleteChild":
    case "edit":
      return expected;
  }
}

/** The declared children that cannot be made: their name is taken, or the API server refuses them. */
export const stuckIn = ({ declared, refused, taken }: Expected): readonly ChildId[] =>
  declared.map(childId).filter((id) => refused.includes(id) || taken.includes(id));
