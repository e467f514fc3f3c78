import type { Json } from "../../../packages/sandbox/src/json.ts";
import { type ChildId, childId } from "../histories/actions.ts";
import { sharedValues, shared } from "../histories/declared-children.ts";
import { byHand } from "../histories/edits.ts";
import { type Expected, stuckIn } from "../histories/expected.ts";

/** A field that differs; undefined for a side without it. */
export interface Difference {
  readonly child: ChildId;
  readonly path: string;
  readonly reference: Json | undefined;
  readonly subject: Json | undefined;
}

/** A difference that is meant. The README has the reasons. */
export interface Allowed {
  readonly reason: string;
  covers(difference: Difference, expected: Expected): boolean;
}

const isOnlyInSubject = ({ reference, subject }: Difference): boolean =>
  reference === undefined && subject !== undefined;

export const allowedDifferences: readonly Allowed[] = [
  {
    reason: "Drover keeps what others have added to a map, a list or a Secret that Metacontroller replaces",
    covers: (difference) => isOnlyInSubject(difference) && difference.path.includes(byHand),
  },
  {
    reason: "Drover keeps a value that others had set before it was declared",
    covers: (difference) =>
      isOnlyInSubject(difference) &&
      difference.path.endsWith(`.${shared}`) &&
      sharedValues.some((value) => value === difference.subject),
  },
  {
    reason: "Drover removes what others have added to a selector that is declared",
    covers: ({ path, subject }) =>
      subject === undefined && new RegExp(`selector\\.${byHand}$`, "i").test(path),
  },
  {
    reason: "Drover deletes no child while another one cannot be made",
    covers: (difference, expected) =>
      isOnlyInSubject(difference) &&
      stuckIn(expected).length > 0 &&
      !expected.declared.some((one) => childId(one) === difference.child),
  },
];
