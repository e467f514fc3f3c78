import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Broken, Summary } from "../harness/play-schedules.ts";
import type { Fact } from "./oracle/facts.ts";
import type { Outcome } from "./harness.ts";
import type { FaultKind, Schedule } from "./schedules/schedule.ts";

/** Counts what schedules did. */
export function summary(): Summary<Outcome> {
  const faults = new Map<FaultKind, number>();
  let [schedules, bad, runs, wakes, deaths] = [0, 0, 0, 0, 0];
  return {
    add({ facts, violations }) {
      schedules++;
      if (violations.length > 0) bad++;
      for (const fact of facts) {
        if (fact.fact === "started") runs++;
        if (fact.fact === "acknowledged") wakes++;
        if (fact.fact === "exited" && fact.how === "SIGKILL") deaths++;
        if (fact.fact === "fault" && fact.phase === "begins") {
          faults.set(fact.kind, (faults.get(fact.kind) ?? 0) + 1);
        }
      }
    },
    violations: () => bad,
    line(seed) {
      const counts = [...faults]
        .sort(([a], [b]) => a.localeCompare(b))
        .map(([kind, count]) => `${kind} ${count}`);
      return (
        `${schedules} schedules, seed ${seed}: ${bad} with violations; ` +
        `${wakes} wakes acknowledged, ${runs} runs, ${deaths} processes killed; faults: ${counts.join(", ")}`
      );
    },
  };
}

/** All that is needed to see a violation again, and what its key went through. */
export function report({ seed, index, schedule, outcome }: Broken<Schedule, Outcome>): string {
  const keys = new Set(outcome.violations.flatMap(({ key }) => key ?? []));
  const facts = outcome.facts.filter((fact) => concerns(fact, keys)).slice(-200);
  return [
    `seed ${seed}, schedule ${index}:`,
    ...violationLines(outcome.violations),
    `again: npm run chaos:queue -- --replay '${JSON.stringify(schedule)}'`,
    ...facts.map(factLine),
    ...processLogs(outcome.folder, keys).map((each) => `  ${each}`),
    `logs: ${outcome.folder}`,
  ].join("\n");
}

const concerns = (fact: Fact, keys: ReadonlySet<string>): boolean => {
  if (fact.fact === "bells" || fact.fact === "acknowledged" || fact.fact === "refused") return false;
  if ("key" in fact) return keys.has(fact.key);
  return fact.fact !== "told" || Object.keys(fact.wakes).some((key) => keys.has(key));
};

/** The first of what was broken, and how many there are beside. */
export const violationLines = (
  violations: readonly { readonly rule: string; readonly key?: string; readonly what: string }[],
): readonly string[] => [
  ...violations.slice(0, 12).map(({ rule, key = "", what }) => `  ${rule} ${key} ${what}`),
  ...(violations.length > 12 ? [`  and ${violations.length - 12} more`] : []),
];

/** A fact of a log, as people read it. */
export function factLine(fact: { readonly at: number; readonly fact: string }): string {
  const { at, fact: name, ...rest } = fact;
  return `  ${at.toFixed(1)} ${name} ${JSON.stringify(rest)}`;
}

/** The last lines of each process, those about the keys first of all. */
function processLogs(folder: string, keys: ReadonlySet<string>): string[] {
  return readdirSync(folder).flatMap((file) => {
    const lines = readFileSync(join(folder, file), "utf8").trimEnd().split("\n");
    const about = lines.filter((each) => [...keys].some((key) => each.includes(key)));
    return [...about.slice(-10), ...lines.slice(-5)].map((each) => `${file}: ${each.slice(0, 600)}`);
  });
}
