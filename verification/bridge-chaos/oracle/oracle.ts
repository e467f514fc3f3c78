import type { Milliseconds } from "@drover/controller";
import type { Violation } from "../../harness/report-violations.ts";
import type { Changed, Fact, Ran, ObservedVersion, Version } from "./facts.ts";

type TimedChange = Changed & { readonly at: Milliseconds };

/** A change that must be looked at, and was not yet. */
export interface UnseenChange {
  readonly key: string;
  /** Its own, or that of the object that it refers to. */
  readonly change: TimedChange;
  readonly lastRun: Ran | undefined;
}

/**
 * I1. Of every key, the last change that matters must have been looked at: by a run that read the world as it was at
 * the change's version or later. A read is as of one version and asked for by a run that has begun, so that no clock is
 * needed to order them; also of an object that is gone, came back and went again.
 *
 * An object that came and went with no run between is owed nothing: a bridge that was away, or lists, cannot notice it, and
 * no run has done anything for it.
 *
 * An object that refers to another one must be looked at also when that one has changed in any way.
 */
export interface Oracle {
  see(fact: Fact): void;
  unseenChanges(): readonly UnseenChange[];
}

export function openOracle(): Oracle {
  const due = new Map<string, TimedChange>();
  const runs = new Map<string, Ran>();
  const lives = new Map<string, TimedChange[]>();
  /** The object under a key as of a resourceVersion. */
  const versionAt = (key: string, version: Version): ObservedVersion =>
    lives.get(key)?.findLast((change) => change.version <= version)?.now ?? "gone";
  const unseenByReferrers = (): readonly UnseenChange[] =>
    [...lives].flatMap(([key, life]) => {
      const referred = life.at(-1)?.refers;
      const lastRun = runs.get(key);
      const change = referred === undefined ? undefined : lives.get(referred)?.at(-1);
      if (change === undefined || lastRun === undefined || lastRun.read >= change.version) return [];
      return isSame(versionAt(change.key, lastRun.read), change.now) ? [] : [{ key, change, lastRun }];
    });
  return {
    see(fact) {
      if (fact.fact === "changed") lives.set(fact.key, [...(lives.get(fact.key) ?? []), fact]);
      if (fact.fact === "changed" && fact.matters) due.set(fact.key, fact);
      if (fact.fact === "ran" && fact.read >= (runs.get(fact.key)?.read ?? 0)) runs.set(fact.key, fact);
    },
    unseenChanges: () => [
      ...[...due].flatMap(([key, change]) => {
        const lastRun = runs.get(key);
        const isKnown = lastRun !== undefined && lastRun.observed !== "gone";
        const isOwed = (change.now !== "gone" || isKnown) && (lastRun?.read ?? 0) < change.version;
        return isOwed ? [{ key, change, lastRun }] : [];
      }),
      ...unseenByReferrers(),
    ],
  };
}

export function violationOf({ key, change, lastRun }: UnseenChange): Violation {
  const last =
    lastRun === undefined
      ? "no run has looked at it"
      : `the last run started at ${lastRun.startedAt.toFixed(1)} ms and read ${shown(lastRun.observed)} as of version ${lastRun.read}`;
  return {
    rule: "I1",
    key,
    what: `${change.key === key ? "" : `refers to ${change.key}, which `}is ${shown(change.now)} since version ${change.version}, committed before ${change.at.toFixed(1)} ms; ${last}`,
  };
}

const shown = (seen: ObservedVersion): string =>
  seen === "gone" ? "gone" : `${seen.uid.slice(0, 8)} at version ${seen.version}`;

/** A run must have read what the recorder saw at that version; otherwise nothing is proved. */
export function contradictions(facts: readonly Fact[]): readonly Violation[] {
  const changes = Map.groupBy(
    facts.filter((fact) => fact.fact === "changed"),
    ({ key }) => key,
  );
  return facts.flatMap((fact) => {
    if (fact.fact !== "ran") return [];
    const known: ObservedVersion =
      changes.get(fact.key)?.findLast(({ version }) => version <= fact.read)?.now ?? "gone";
    if (isSame(known, fact.observed)) return [];
    const what = `a run read ${shown(fact.observed)} as of version ${fact.read}, and the recorder observed ${shown(known)}`;
    return [{ rule: "HARNESS", key: fact.key, what }];
  });
}

const isSame = (a: ObservedVersion, b: ObservedVersion): boolean =>
  a === "gone" || b === "gone" ? a === b : a.uid === b.uid && a.version === b.version;

/** Runs that found nothing to look at: no violation, since a crash may repeat wakes. */
export interface Unneeded {
  /** The status alone had changed since the run before (I6), in the same uneventful life of a bridge or not. */
  readonly status: number;
  /** Nothing at all had changed. */
  readonly nothing: number;
}

export function unneededRuns(facts: readonly Fact[]): Unneeded {
  const changes: Changed[] = facts.filter((fact) => fact.fact === "changed");
  const read = new Map<string, Version>();
  const count = { status: 0, nothing: 0 };
  const runs = facts.filter((fact) => fact.fact === "ran").sort((a, b) => a.read - b.read);
  for (const run of runs) {
    const before = read.get(run.key);
    read.set(run.key, run.read);
    const referred = new Set(changes.flatMap(({ key, refers }) => (key === run.key ? (refers ?? []) : [])));
    const recent = changes.filter(({ version }) => version > (before ?? 0) && version <= run.read);
    if (recent.some(({ key }) => referred.has(key))) continue;
    const since = recent.filter(({ key }) => key === run.key);
    if (since.some(({ matters }) => matters)) continue;
    count[since.length > 0 ? "status" : "nothing"]++;
  }
  return count;
}

/**
 * How long the changes that were still to be seen when all faults were over took to be seen, from then on; undefined
 * where there were none.
 */
export function healingTime(facts: readonly Fact[]): Milliseconds | undefined {
  const over = facts.find(({ fact }) => fact === "faults over");
  if (over === undefined) return undefined;
  const oracle = openOracle();
  let healed: Milliseconds | undefined;
  for (const fact of facts) {
    if (fact.fact === "at rest") break;
    const before = fact.at >= over.at && oracle.unseenChanges().length > 0;
    oracle.see(fact);
    if (before) healed = fact.at - over.at;
  }
  return healed;
}

/**
 * I9. How often runs observed one object and then another one of the same name, with no run between that found none, and how
 * often a run could notice: it gets the uid of the replaced object, or of another object than it reads.
 */
export function replacements(facts: readonly Fact[]): { readonly seen: number; readonly reported: number } {
  const runs: Ran[] = facts.filter((fact) => fact.fact === "ran").sort((a, b) => a.read - b.read);
  const count = { seen: 0, reported: 0 };
  const last = new Map<string, ObservedVersion>();
  for (const run of runs) {
    const before = last.get(run.key) ?? "gone";
    last.set(run.key, run.observed);
    if (before === "gone" || run.observed === "gone" || before.uid === run.observed.uid) continue;
    count.seen++;
    const isReported = runs.some(
      ({ key, read, uid, replaced }) =>
        key === run.key && read >= run.read && (replaced === before.uid || uid === before.uid),
    );
    if (isReported) count.reported++;
  }
  return count;
}
