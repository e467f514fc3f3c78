import { type Baseline, clockStarts, recordBaseline } from "./baseline.ts";
import type { Divergence } from "./divergence.ts";
import { divergence, comparisonRulesOf } from "./compare.ts";
import { derivePlans } from "./derive-plans.ts";
import { lostUpdate } from "./interference.ts";
import { executeScenario } from "./execute-scenario.ts";
import { describeObject, type TestPlan, describePlan } from "./test-plan.ts";
import { lastApplied, type Scenario } from "./scenario.ts";
import { namedObject } from "./cluster-state.ts";
import { storyUntil } from "./story.ts";
import { findHarm, withForeignObject } from "./foreign-object.ts";
import type { ScenarioRun } from "./scenario-run.ts";

/** What came of one plan. */
export interface PlanResult {
  readonly plan: TestPlan;
  readonly description: string;
  /** `unexecuted`: its fault met nothing, so nothing is known. */
  readonly outcome: "same" | "differs" | "unexecuted";
  /** What is other than without the fault. */
  readonly differences: readonly string[];
  /** What happened until then, a line each. */
  readonly story: readonly string[];
}

export interface FaultReport {
  readonly scenario: string;
  /** Requests that were to change something, in the run without faults. */
  readonly writes: number;
  readonly plans: readonly PlanResult[];
  /** What is wrong with the run without faults: no plan is derived from one that has no good end. */
  readonly problems: readonly string[];
}

export interface TestFaultsOptions {
  /** Only plans whose description contains this. */
  readonly only?: string | undefined;
  /** Only plans of these kinds. */
  readonly kinds?: readonly TestPlan["kind"][];
  /** False: only the run without faults. */
  readonly faults?: boolean;
  /** Told of each plan when it is over. */
  readonly onPlan?: (result: PlanResult) => void;
}

/**
 * Runs a scenario without faults, derives every plan from what was seen, and runs the scenario with each of them: a
 * function that is right comes to the same end, by the same creations and deletions.
 */
export async function testFaults(scenario: Scenario, options: TestFaultsOptions = {}): Promise<FaultReport> {
  const { only = "", kinds, faults = true, onPlan } = options;
  const { except = {} } = scenario;
  const baseline = await recordBaseline(scenario);
  const { scenarioRun } = baseline;
  const derived = derivePlans(scenario, baseline).map((plan) => ({ plan, description: describePlan(plan) }));
  const unused = Object.keys(except).filter(
    (part) => !derived.some(({ description }) => description.includes(part)),
  );
  const problems = [
    ...problemsOf(scenarioRun),
    ...unused.map((part) => `There is no plan ${JSON.stringify(part)}: take it out of \`except\`.`),
  ];
  const isLeftOut = (description: string): boolean =>
    Object.keys(except).some((part) => description.includes(part));
  const plans: PlanResult[] = [];
  for (const { plan, description } of problems.length > 0 || !faults ? [] : derived) {
    const isMeant = description.includes(only) && kinds?.includes(plan.kind) !== false;
    if (!isMeant || isLeftOut(description)) continue;
    const result = { plan, description, ...(await execute(scenario, baseline, plan)) };
    plans.push(result);
    onPlan?.(result);
  }
  return { scenario: scenario.name, writes: scenarioRun.writes.length, plans, problems };
}

const problemsOf = ({ problem, steps }: ScenarioRun): readonly string[] => [
  ...(problem === undefined ? [] : [problem]),
  ...(steps.at(-1)?.failing ?? []),
];

type PlanOutcome = Pick<PlanResult, "outcome" | "differences" | "story">;

async function execute(scenario: Scenario, baseline: Baseline, plan: TestPlan): Promise<PlanOutcome> {
  if (plan.kind === "stranger") return executeForeignObject(scenario, baseline, plan);
  if (plan.kind === "made anew") return executeMadeAnew(scenario, plan);
  const scenarioRun = await executeScenario(scenario, {
    plan,
    at: clockStarts[0],
    kinds: baseline.scenarioRun.kinds,
  });
  return outcomeOf(
    scenario,
    scenarioRun,
    divergence(baseline, scenarioRun, comparisonRulesOf(plan)) ?? lostUpdate(scenarioRun),
  );
}

async function executeForeignObject(
  scenario: Scenario,
  baseline: Baseline,
  plan: Extract<TestPlan, { kind: "stranger" }>,
): Promise<PlanOutcome> {
  const { scenarioRun, stableNameOf } = baseline;
  const like = scenarioRun.steps
    .flatMap(({ snapshot }) => snapshot?.objects ?? [])
    .findLast((found) => stableNameOf(namedObject(found)) === describeObject(plan.made));
  if (like === undefined) return unexecuted;
  const theirs = withForeignObject(scenario, plan, like);
  const lived = await executeScenario(theirs, { at: clockStarts[0], kinds: scenarioRun.kinds });
  return outcomeOf(theirs, lived, findHarm(plan, baseline, lived));
}

/** Another run, in which the object is made anew, is compared with the same one in which nobody saw that it was gone. */
async function executeMadeAnew(
  scenario: Scenario,
  { step }: Extract<TestPlan, { kind: "made anew" }>,
): Promise<PlanOutcome> {
  const again = lastApplied(scenario, step);
  if (again === undefined) return unexecuted;
  const anew = { ...scenario, steps: [...scenario.steps.slice(0, step), { apply: again }] };
  const plan: TestPlan = { kind: "unobserved", step };
  const baseline = await recordBaseline(anew);
  const scenarioRun = await executeScenario(anew, {
    plan,
    at: clockStarts[0],
    kinds: baseline.scenarioRun.kinds,
  });
  return outcomeOf(anew, scenarioRun, divergence(baseline, scenarioRun, comparisonRulesOf(plan)));
}

const unexecuted: PlanOutcome = { outcome: "unexecuted", differences: [], story: [] };

function outcomeOf(
  scenario: Scenario,
  scenarioRun: ScenarioRun,
  diverged: Divergence | undefined,
): PlanOutcome {
  if (!scenarioRun.hasFired)
    return {
      outcome: "unexecuted",
      differences: [],
      story: storyUntil(scenarioRun, scenario, scenarioRun.steps.length),
    };
  if (diverged === undefined) return { outcome: "same", differences: [], story: [] };
  const { step, differences } = diverged;
  return { outcome: "differs", differences, story: storyUntil(scenarioRun, scenario, step) };
}
