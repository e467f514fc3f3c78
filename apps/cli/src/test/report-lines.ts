import type { FaultReport, PlanResult } from "@drover/testing";

/** The report of a scenario as text: the plans that were derived and executed, and the events of each failed one. */
export function reportLines({ scenario, writes, plans, problems }: FaultReport): readonly string[] {
  const executed = plans.filter(({ outcome }) => outcome !== "unexecuted");
  const unwell = plans.filter(({ outcome }) => outcome !== "same");
  const kinds = Map.groupBy(plans, ({ plan }) => ("when" in plan ? `crash ${plan.when}` : plan.kind));
  const counts = [...kinds].map(([kind, { length }]) => `${kind} ${length}`);
  return [
    `${scenario}: ${count(writes, "write")} without faults`,
    ...problems.map((problem) => `  ✗ without any fault: ${problem}`),
    ...unwell.flatMap(planLines),
    ...(problems.length > 0
      ? ["  No plan is derived: fix this first."]
      : [
          `  ${count(plans.length, "plan")} derived: ${counts.join(", ")}`,
          `  ${executed.length} executed, ${plans.length - unwell.length} with the same final state`,
        ]),
  ];
}

/** True if all plans were executed, and ended in the same state as the run without faults. */
export const hasPassed = ({ plans, problems }: FaultReport): boolean =>
  problems.length === 0 && plans.every(({ outcome }) => outcome === "same");

function planLines({ description, outcome, differences, story }: PlanResult): readonly string[] {
  const what =
    outcome === "unexecuted"
      ? ["the fault was not injected: the run took another course before it"]
      : differences;
  return [
    `  ✗ ${description}`,
    ...story.map((line) => `      ${line}`),
    ...what.map((line) => `    => ${line}`),
    "",
  ];
}

const count = (of: number, what: string): string => `${of} ${what}${of === 1 ? "" : "s"}`;
