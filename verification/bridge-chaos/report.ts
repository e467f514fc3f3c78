import type { Milliseconds } from "@drover/controller";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Broken, Summary } from "../harness/play-schedules.ts";
import { factLine, violationLines } from "../queue-chaos/report.ts";
import type { Fact } from "./oracle/facts.ts";
import type { Outcome } from "./harness.ts";
import { healingTime, replacements, unneededRuns } from "./oracle/oracle.ts";
import { type FaultKind, type Schedule, silentFaults } from "./schedules/schedule.ts";

/** Counts what schedules did. */
export function summary(): Summary<Pick<Outcome, "facts" | "violations">> {
  const faults = new Map<FaultKind, number>();
  const unmet = new Map<FaultKind, number>();
  const healing: Milliseconds[] = [];
  const count = {
    schedules: 0,
    bad: 0,
    changes: 0,
    runs: 0,
    status: 0,
    nothing: 0,
    killed: 0,
    seen: 0,
    told: 0,
  };
  const more = (counts: Map<FaultKind, number>, kind: FaultKind): void =>
    void counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return {
    add({ facts, violations }) {
      count.schedules++;
      if (violations.length > 0) count.bad++;
      const unneeded = unneededRuns(facts);
      count.status += unneeded.status;
      count.nothing += unneeded.nothing;
      const replaced = replacements(facts);
      count.seen += replaced.seen;
      count.told += replaced.told;
      if (!isSilent(facts)) healing.push(healingTime(facts) ?? 0);
      for (const fact of facts) {
        if (fact.fact === "changed" && fact.matters) count.changes++;
        if (fact.fact === "ran") count.runs++;
        if (fact.fact === "bridge" && fact.what === "killed" && fact.how.endsWith("SIGKILL")) count.killed++;
        if (fact.fact === "fault" && fact.phase === "bites" && fact.bites === 1) more(faults, fact.kind);
        if (fact.fact === "fault" && fact.phase === "over" && fact.bites === 0) more(unmet, fact.kind);
      }
    },
    violations: () => count.bad,
    line(seed) {
      const { schedules, bad, changes, runs, status, nothing, killed, seen, told } = count;
      const healed = healing.sort((a, b) => a - b);
      const seconds = (part: number): string =>
        `${((healed[Math.ceil(part * healed.length) - 1] ?? 0) / 1_000).toFixed(1)} s`;
      return (
        `${schedules} schedules, seed ${seed}: ${bad} with violations; ${changes} changes, ${runs} runs ` +
        `(${status} for a status alone, ${nothing} for nothing), ${told} of ${seen} replacements told, ${killed} bridges killed; healed within ` +
        `${seconds(0.5)} (p50), ${seconds(0.99)} (p99), ${seconds(1)} (max), silences aside; faults: ${listed(faults)}` +
        (unmet.size > 0 ? `; not met: ${listed(unmet)}` : "")
      );
    },
  };
}

/** Silence takes its minute, and says nothing about the others. */
const isSilent = (facts: readonly Fact[]): boolean =>
  facts.some((fact) => fact.fact === "fault" && silentFaults.includes(fact.kind));

const listed = (counts: ReadonlyMap<FaultKind, number>): string =>
  [...counts]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([kind, count]) => `${kind} ${count}`)
    .join(", ");

/** All that is needed to see a violation again, and what happened around it. */
export function report({ seed, index, schedule, outcome }: Broken<Schedule, Outcome>): string {
  const keys = new Set(outcome.violations.flatMap(({ key }) => key ?? []));
  const facts = outcome.facts.filter((fact) => !("key" in fact) || keys.has(fact.key)).slice(-150);
  return [
    `seed ${seed}, schedule ${index}:`,
    ...violationLines(outcome.violations),
    `again: npm run chaos:bridge -- --seed ${seed} --from ${index} --schedules ${index + 1}`,
    `   or: npm run chaos:bridge -- --replay ${join(outcome.folder, "schedule.json")}, which holds`,
    JSON.stringify(schedule),
    ...facts.map(factLine),
    ...processLogs(outcome.folder).map((each) => `  ${each}`),
    `logs: ${outcome.folder}`,
  ].join("\n");
}

/** The last lines of each process. */
function processLogs(folder: string): string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".log"))
    .flatMap((file) =>
      readFileSync(join(folder, file), "utf8")
        .trimEnd()
        .split("\n")
        .slice(-8)
        .map((each) => `${file}: ${each.slice(0, 400)}`),
    );
}
