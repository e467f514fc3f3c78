// Where two runs of a sequence differ: at the first action after which they do, for what comes later follows from it.
import { differences } from "../../../packages/sandbox/conformance/differences.ts";
import { field, objectAt, omit } from "../../../packages/sandbox/src/json.ts";
import type { Json, JsonObject } from "../../../packages/sandbox/src/json.ts";
import { shownAction } from "../sequences/actions.ts";
import type { Action } from "../sequences/actions.ts";
import { uncounted } from "./canonical-events.ts";
import type { Trace } from "../sequences/trace.ts";

/** A value that is another one with the subject than with the reference. */
export interface Difference {
  /** After which action, from 1 on. */
  readonly step: number;
  readonly action: Action;
  /** Where in the state. */
  readonly path: string;
  readonly reference: Json | undefined;
  readonly subject: Json | undefined;
}

/** A difference that is meant to be there. */
export interface Allowed {
  readonly covers: (difference: Difference) => boolean;
  readonly reason: string;
  /** What comes later follows from it, and is not compared. */
  readonly parts?: true;
}

/** If one side has more events of an object than can be compared, the other side's are not compared. */
function withoutTooMuch(state: JsonObject, other: JsonObject): JsonObject {
  const tooMuch = [state, other].flatMap((side) =>
    Object.entries(objectAt(side, "events")).flatMap(([object, counted]) =>
      field(counted, uncounted) === undefined ? [] : [object],
    ),
  );
  return { ...state, events: omit(objectAt(state, "events"), ...tooMuch) };
}

/**
 * Notes in `used` which allowed differences were met; those are left out, and stay so for as long as what was allowed after
 * one action stands unchanged after the next. Nothing is compared after one that parts the two.
 */
export function compareTraces(
  reference: Trace,
  subject: Trace,
  allowedDifferences: readonly Allowed[],
  used: Set<Allowed> = new Set(),
): readonly Difference[] {
  let standing: ReadonlySet<string> = new Set();
  for (const [i, { action, state }] of reference.moments.entries()) {
    if (subject.isLate && i >= subject.moments.length) return [];
    const other = subject.moments[i]?.state ?? {};
    // A settled side is not compared with one that has not settled.
    if ("unsettled" in state && !("unsettled" in other)) return [];
    const left = new Set<string>();
    const met = new Set<Allowed>();
    const found = differences(withoutTooMuch(state, other), withoutTooMuch(other, state))
      .map(({ path, real, sandbox }) => ({ step: i + 1, action, path, reference: real, subject: sandbox }))
      .filter((difference) => {
        const what = JSON.stringify([difference.path, difference.reference, difference.subject]);
        const allowed = allowedDifferences.find((one) => one.covers(difference));
        if (allowed) met.add(allowed);
        else if (!standing.has(what)) return true;
        left.add(what);
        return false;
      });
    for (const one of met) used.add(one);
    if (found.length > 0 || [...met].some(({ parts }) => parts)) return found;
    standing = left;
  }
  return [];
}

const shown = (value: Json | undefined): string =>
  value === undefined ? "(nothing)" : JSON.stringify(value).slice(0, 1_500);

/** Differences for people: the action, the place, and both values. */
export const described = (found: readonly Difference[]): string =>
  found
    .map(
      ({ step, action, path, reference, subject }) =>
        `after ${step}. ${shownAction(action)}\n   at ${path || "(everything)"}\n` +
        `   reference: ${shown(reference)}\n   subject:   ${shown(subject)}`,
    )
    .join("\n");
