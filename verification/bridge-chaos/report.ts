import type { Milliseconds } from "@drover/controller";
import { join } from "node:path";
import type { Broken, Summary } from "../harness/play-schedules.ts";
import { counts, factLine, logLines, violatedKeys, violationLines } from "../harness/report-violations.ts";
import type { Fact, Observation } from "./oracle/facts.ts";
import { healingTime, replacements, unneededRuns } from "./oracle/oracle.ts";
import { type FaultKind, type Schedule, silentFaults } from "./schedules/schedule.ts";

/** Counts what schedules did. */
export function summary(): Summary<Observation> {
  const faults = counts<FaultKind>();
  const unmet = counts<FaultKind>();
  const healing: Milliseconds[] = [];
  const count = { changes: 0, runs: 0, status: 0, nothing: 0, killed: 0, seen: 0, reported: 0 };
  return {
    add(facts) {
      const unneeded = unneededRuns(facts);
      count.status += unneeded.status;
      count.nothing += unneeded.nothing;
      const replaced = replacements(facts);
      count.seen += replaced.seen;
      count.reported += replaced.reported;
      if (!isSilent(facts)) healing.push(healingTime(facts) ?? 0);
      for (const fact of facts) {
        if (fact.fact === "changed" && fact.matters) count.changes++;
        if (fact.fact === "ran") count.runs++;
        if (fact.fact === "bridge" && fact.what === "killed" && fact.how.endsWith("SIGKILL")) count.killed++;
        if (fact.fact === "fault" && fact.phase === "bites" && fact.bites === 1) faults.add(fact.kind);
        if (fact.fact === "fault" && fact.phase === "over" && fact.bites === 0) unmet.add(fact.kind);
      }
    },
    line() {
      const { changes, runs, status, nothing, killed, seen, reported } = count;
      const healed = healing.sort((a, b) => a - b);
      const seconds = (part: number): string =>
        `${((healed[Math.ceil(part * healed.length) - 1] ?? 0) / 1_000).toFixed(1)} s`;
      return (
        `${changes} changes, ${runs} runs ` +
        `(${status} for a status alone, ${nothing} for nothing), ${reported} of ${seen} replacements reported, ${killed} bridges killed; healed within ` +
        `${seconds(0.5)} (p50), ${seconds(0.99)} (p99), ${seconds(1)} (max), silences aside; faults: ${faults.listed()}` +
        (unmet.size > 0 ? `; not met: ${unmet.listed()}` : "")
      );
    },
  };
}

/** A silent fault takes its minute, so it does not count in the times of the others. */
const isSilent = (facts: readonly Fact[]): boolean =>
  facts.some((fact) => fact.fact === "fault" && silentFaults.includes(fact.kind));

/** The violations of a schedule, the commands that repeat it, and the events around them. */
export function report({ seed, index, schedule, outcome }: Broken<Schedule, Observation>): string {
  const keys = violatedKeys(outcome.violations);
  const facts = outcome.facts.filter((fact) => !("key" in fact) || keys.has(fact.key)).slice(-150);
  return [
    `seed ${seed}, schedule ${index}:`,
    ...violationLines(outcome.violations),
    `again: npm run chaos:bridge -- --seed ${seed} --from ${index} --schedules ${index + 1}`,
    `   or: npm run chaos:bridge -- --replay ${join(outcome.folder, "schedule.json")}, which holds`,
    JSON.stringify(schedule),
    ...facts.map(factLine),
    ...logLines(outcome.folder, 8),
    `logs: ${outcome.folder}`,
  ].join("\n");
}
