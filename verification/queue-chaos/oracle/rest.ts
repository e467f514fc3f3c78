import type { Fact, OutcomeKind } from "./facts.ts";
import type { Behaviour } from "../schedules/schedule.ts";

/** True if a key has come to where nothing more is to be done, as the facts have it. */
export interface Rest {
  readonly see: (fact: Fact) => void;
  /** Undefined when the last change of the key was seen by a run whose outcome is final; else what is missing. */
  missing(key: string, version: number): string | undefined;
  /** How many of the keys wait for a time that is far away, and how many are given up. */
  expected(): { readonly scheduled: number; readonly parked: number };
}

interface Run {
  readonly version: number;
  readonly order: number;
  outcome?: OutcomeKind;
  again?: boolean;
}

/**
 * Follows the facts. A run counts from its first effect on: one that found its lease lost before that has not happened.
 */
export function followRest(behaviours: ReadonlyMap<string, Behaviour>): Rest {
  const runs = new Map<string, Run>();
  const latest = new Map<string, Run>();
  let started = 0;
  const see = (fact: Fact): void => {
    if (fact.fact === "started") {
      runs.set(fact.token, { version: fact.version, order: started++ });
      return;
    }
    const run = "token" in fact ? runs.get(fact.token) : undefined;
    if (run === undefined) return;
    if (fact.fact === "effect" && fact.held) {
      if ((latest.get(fact.key)?.order ?? -1) < run.order) latest.set(fact.key, run);
    } else if (fact.fact === "ended") {
      run.again = fact.again;
      run.outcome ??= fact.outcome;
    } else if (fact.fact === "settled") {
      // The queue gives a run up that hangs: the later result of its handler does not count.
      if (run.outcome !== fact.outcome) run.again = false;
      run.outcome = fact.outcome;
    }
  };
  const isLater = (key: string): boolean => latest.get(key)?.again === true;
  return {
    see,
    missing(key, version) {
      const run = latest.get(key);
      if (run === undefined) return `version ${version} is committed, and no run has begun`;
      if (run.version < version)
        return `version ${version} is committed, and the last run read ${run.version}`;
      const { outcome } = run;
      if (outcome === undefined) return "the last run has not ended";
      if (outcome === "terminal" || outcome === "gone") return undefined;
      if (outcome !== "done") return `the last run came to ${outcome}, and no other has begun`;
      if (run.again !== true || behaviours.get(key) === "later") return undefined;
      return "the last run asked to be looked at again, and was not";
    },
    expected() {
      const keys = [...latest.keys()];
      return {
        scheduled: keys.filter(isLater).length,
        parked: [...latest.values()].filter(({ outcome }) => outcome === "terminal").length,
      };
    },
  };
}
