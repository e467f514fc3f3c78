import type { Broken, Summary } from "../harness/play-schedules.ts";
import { counts, factLine, logLines, violatedKeys, violationLines } from "../harness/report-violations.ts";
import type { Fact, Observation } from "./oracle/facts.ts";
import type { FaultKind, Schedule } from "./schedules/schedule.ts";

/** Counts what schedules did. */
export function summary(): Summary<Observation> {
  const faults = counts<FaultKind>();
  let [runs, wakes, deaths] = [0, 0, 0];
  return {
    add(facts) {
      for (const fact of facts) {
        if (fact.fact === "started") runs++;
        if (fact.fact === "acknowledged") wakes++;
        if (fact.fact === "exited" && fact.how === "SIGKILL") deaths++;
        if (fact.fact === "fault" && fact.phase === "begins") faults.add(fact.kind);
      }
    },
    line: () =>
      `${wakes} wakes acknowledged, ${runs} runs, ${deaths} processes killed; faults: ${faults.listed()}`,
  };
}

/** The violations of a schedule, the command that repeats it, and the events of their keys. */
export function report({ seed, index, schedule, outcome }: Broken<Schedule, Observation>): string {
  const keys = violatedKeys(outcome.violations);
  const facts = outcome.facts.filter((fact) => concerns(fact, keys)).slice(-200);
  return [
    `seed ${seed}, schedule ${index}:`,
    ...violationLines(outcome.violations),
    `again: npm run chaos:queue -- --replay '${JSON.stringify(schedule)}'`,
    ...facts.map(factLine),
    ...logLines(outcome.folder, 5, keys),
    `logs: ${outcome.folder}`,
  ].join("\n");
}

const concerns = (fact: Fact, keys: ReadonlySet<string>): boolean => {
  if (fact.fact === "jobs" || fact.fact === "acknowledged" || fact.fact === "refused") return false;
  if ("key" in fact) return keys.has(fact.key);
  return fact.fact !== "requested" || Object.keys(fact.wakes).some((key) => keys.has(key));
};
