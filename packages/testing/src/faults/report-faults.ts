import type { Scenario } from "./scenario.ts";
import { type FaultReport, type PlanResult, testFaults, type TestFaultsOptions } from "./test-faults.ts";

export interface FaultCounts {
  readonly plans: number;
  /** Plans that differ or were not executed, and problems without any fault. 0 if all is well. */
  readonly different: number;
}

/** Runs scenarios with their faults, one after the other, and prints a report of each. */
export async function reportFaults(
  scenarios: readonly Scenario[],
  print: (text: string) => void,
  options: TestFaultsOptions = {},
): Promise<FaultCounts> {
  let [all, different] = [0, 0];
  for (const scenario of scenarios) {
    const report = await testFaults(scenario, options);
    print(reportLines(report).join("\n"));
    const { plans, problems } = report;
    all += plans.length;
    different += plans.filter(({ outcome }) => outcome !== "same").length + problems.length;
  }
  return { plans: all, different };
}

/** The report of a scenario as text: the plans that were derived and executed, and the events of each failed one. */
function reportLines({ scenario, writes, plans, problems }: FaultReport): readonly string[] {
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
