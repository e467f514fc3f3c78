import type { Milliseconds } from "@drover/controller";
import type { Violation } from "../../harness/report-violations.ts";
import type { Changed, Fact, Ran, Sight, Version } from "./facts.ts";

type TimedChange = Changed & { readonly at: Milliseconds };

/** A change that must be looked at, and was not yet. */
export interface Debt {
  readonly key: string;
  /** Its own, or that of the object that it refers to. */
  readonly change: TimedChange;
  readonly lastRun: Ran | undefined;
}

/**
 * I1. Of every key, the last change that matters must have been looked at: by a run that read the world as it was at
 * the change's version or later. A read is as of one version and asked for by a run that has begun, so that no clock is
 * needed to tell what came first; also of an object that is gone, came back and went again.
 *
 * An object that came and went with no run between is owed nothing: who was away, or lists, cannot hear of it, and
 * nobody has done anything for it.
 *
 * An object that refers to another one must be looked at also when that one has changed in any way.
 */
export interface Oracle {
  see(fact: Fact): void;
  debts(): readonly Debt[];
}

export function openOracle(): Oracle {
  const due = new Map<string, TimedChange>();
  const runs = new Map<string, Ran>();
  const lives = new Map<string, TimedChange[]>();
  /** What was there under a key as of a version of the world. */
  const sightAt = (key: string, version: Version): Sight =>
    lives.get(key)?.findLast((change) => change.version <= version)?.now ?? "gone";
  const debtsOfReferrers = (): readonly Debt[] =>
    [...lives].flatMap(([key, life]) => {
      const referred = life.at(-1)?.refers;
      const lastRun = runs.get(key);
      const change = referred === undefined ? undefined : lives.get(referred)?.at(-1);
      if (change === undefined || lastRun === undefined || lastRun.read >= change.version) return [];
      return isSame(sightAt(change.key, lastRun.read), change.now) ? [] : [{ key, change, lastRun }];
    });
  return {
    see(fact) {
      if (fact.fact === "changed") lives.set(fact.key, [...(lives.get(fact.key) ?? []), fact]);
      if (fact.fact === "changed" && fact.matters) due.set(fact.key, fact);
      if (fact.fact === "ran" && fact.read >= (runs.get(fact.key)?.read ?? 0)) runs.set(fact.key, fact);
    },
    debts: () => [
      ...[...due].flatMap(([key, change]) => {
        const lastRun = runs.get(key);
        const isKnown = lastRun !== undefined && lastRun.saw !== "gone";
        const isOwed = (change.now !== "gone" || isKnown) && (lastRun?.read ?? 0) < change.version;
        return isOwed ? [{ key, change, lastRun }] : [];
      }),
      ...debtsOfReferrers(),
    ],
  };
}

export function violationOf({ key, change, lastRun }: Debt): Violation {
  const last =
    lastRun === undefined
      ? "no run has looked at it"
      : `the last run started at ${lastRun.startedAt.toFixed(1)} ms and read ${shown(lastRun.saw)} as of version ${lastRun.read}`;
  return {
    rule: "I1",
    key,
    what: `${change.key === key ? "" : `refers to ${change.key}, which `}is ${shown(change.now)} since version ${change.version}, committed before ${change.at.toFixed(1)} ms; ${last}`,
  };
}

const shown = (sight: Sight): string =>
  sight === "gone" ? "gone" : `${sight.uid.slice(0, 8)} at version ${sight.version}`;

/** What a run saw is what the witness saw at that version; otherwise neither proves anything. */
export function contradictions(facts: readonly Fact[]): readonly Violation[] {
  const changes = Map.groupBy(
    facts.filter((fact) => fact.fact === "changed"),
    ({ key }) => key,
  );
  return facts.flatMap((fact) => {
    if (fact.fact !== "ran") return [];
    const known: Sight =
      changes.get(fact.key)?.findLast(({ version }) => version <= fact.read)?.now ?? "gone";
    if (isSame(known, fact.saw)) return [];
    const what = `a run read ${shown(fact.saw)} as of version ${fact.read}, and the witness saw ${shown(known)}`;
    return [{ rule: "HARNESS", key: fact.key, what }];
  });
}

const isSame = (a: Sight, b: Sight): boolean =>
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
    const before = fact.at >= over.at && oracle.debts().length > 0;
    oracle.see(fact);
    if (before) healed = fact.at - over.at;
  }
  return healed;
}

/**
 * I9. How often runs saw one object and then another one of the same name, with no run between that found none, and how
 * often a run could tell: it is told what was replaced, or is told the uid of another object than it reads.
 */
export function replacements(facts: readonly Fact[]): { readonly seen: number; readonly told: number } {
  const runs: Ran[] = facts.filter((fact) => fact.fact === "ran").sort((a, b) => a.read - b.read);
  const count = { seen: 0, told: 0 };
  const last = new Map<string, Sight>();
  for (const run of runs) {
    const before = last.get(run.key) ?? "gone";
    last.set(run.key, run.saw);
    if (before === "gone" || run.saw === "gone" || before.uid === run.saw.uid) continue;
    count.seen++;
    const isTold = runs.some(
      ({ key, read, uid, replaced }) =>
        key === run.key && read >= run.read && (replaced === before.uid || uid === before.uid),
    );
    if (isTold) count.told++;
  }
  return count;
}
