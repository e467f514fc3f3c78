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

/** The result of one plan. */
export interface PlanResult {
  readonly plan: TestPlan;
  readonly description: string;
  /** `unexecuted`: its fault never occurred, so the plan shows nothing. */
  readonly outcome: "same" | "differs" | "unexecuted";
  /** The differences from the run without faults. */
  readonly differences: readonly string[];
  /** The steps and runs up to the difference, a line each. */
  readonly story: readonly string[];
}

export interface FaultReport {
  readonly scenario: string;
  /** Number of write requests in the run without faults. */
  readonly writes: number;
  readonly plans: readonly PlanResult[];
  /** Problems of the run without faults. If there are any, no plan is executed. */
  readonly problems: readonly string[];
}

export interface TestFaultsOptions {
  /** Only plans with this in their description. */
  readonly only?: string | undefined;
  /** Only plans of these kinds. */
  readonly kinds?: readonly TestPlan["kind"][];
  /** False: only the run without faults. */
  readonly faults?: boolean;
  /** Called after each plan. */
  readonly onPlan?: (result: PlanResult) => void;
}

/**
 * Runs a scenario without faults, derives all plans from that run, and runs the scenario with each plan. A correct function
 * reaches the same end in all of them, with the same creations and deletions.
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
    ...unused.map((part) => `No plan is described by ${JSON.stringify(part)}: remove it from \`except\`.`),
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
  if (plan.kind === "foreign object") return executeForeignObject(scenario, baseline, plan);
  if (plan.kind === "recreated") return executeRecreated(scenario, plan);
  return executeFault(scenario, baseline, plan);
}

async function executeFault(scenario: Scenario, baseline: Baseline, plan: TestPlan): Promise<PlanOutcome> {
  const { kinds } = baseline.scenarioRun;
  const scenarioRun = await executeScenario(scenario, { plan, at: clockStarts[0], kinds });
  const diverged = divergence(baseline, scenarioRun, comparisonRulesOf(plan));
  return outcomeOf(scenario, scenarioRun, diverged ?? lostUpdate(scenarioRun));
}

async function executeForeignObject(
  scenario: Scenario,
  baseline: Baseline,
  plan: Extract<TestPlan, { kind: "foreign object" }>,
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

/** Compares two runs in which the object is recreated: with runs after its deletion, and without. */
async function executeRecreated(
  scenario: Scenario,
  { step }: Extract<TestPlan, { kind: "recreated" }>,
): Promise<PlanOutcome> {
  const again = lastApplied(scenario, step);
  if (again === undefined) return unexecuted;
  const recreating = { ...scenario, steps: [...scenario.steps.slice(0, step), { apply: again }] };
  return executeFault(recreating, await recordBaseline(recreating), { kind: "unobserved", step });
}

const unexecuted: PlanOutcome = { outcome: "unexecuted", differences: [], story: [] };

function outcomeOf(
  scenario: Scenario,
  scenarioRun: ScenarioRun,
  diverged: Divergence | undefined,
): PlanOutcome {
  if (!scenarioRun.hasFired)
    return { ...unexecuted, story: storyUntil(scenarioRun, scenario, scenarioRun.steps.length) };
  if (diverged === undefined) return { outcome: "same", differences: [], story: [] };
  const { step, differences } = diverged;
  return { outcome: "differs", differences, story: storyUntil(scenarioRun, scenario, step) };
}
