import { type Baseline, days, recordBaseline } from "./baseline.ts";
import { type Divergence, divergence, judgementOf } from "./compare.ts";
import { derivePlans } from "./derive-plans.ts";
import { lostUpdate } from "./interference.ts";
import { liveThrough } from "./live-through.ts";
import { objectWords, type Plan, planWords } from "./plan.ts";
import { lastApplied, type Scenario } from "./scenario.ts";
import { namedAs } from "./state.ts";
import { storyOf } from "./story.ts";
import { harmDone, withStranger } from "./stranger.ts";
import type { Take } from "./take.ts";

/** What came of one plan. */
export interface PlanResult {
  readonly plan: Plan;
  readonly words: string;
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
  /** Only plans whose words have this in them. */
  readonly only?: string | undefined;
  /** Only plans of these kinds. */
  readonly kinds?: readonly Plan["kind"][];
  /** False: only the run without faults. */
  readonly faults?: boolean;
  /** Told of each plan when it is over. */
  readonly onPlan?: (result: PlanResult) => void;
}

/**
 * Lives through a scenario without faults, derives every plan from what was seen, and lives through each of them: a
 * function that is right comes to the same end, by the same creations and deletions.
 */
export async function testFaults(scenario: Scenario, options: TestFaultsOptions = {}): Promise<FaultReport> {
  const { only = "", kinds, faults = true, onPlan } = options;
  const { except = {} } = scenario;
  const baseline = await recordBaseline(scenario);
  const { take } = baseline;
  const derived = derivePlans(scenario, baseline).map((plan) => ({ plan, words: planWords(plan) }));
  const unused = Object.keys(except).filter((part) => !derived.some(({ words }) => words.includes(part)));
  const problems = [
    ...problemsOf(take),
    ...unused.map((part) => `There is no plan ${JSON.stringify(part)}: take it out of \`except\`.`),
  ];
  const isLeftOut = (words: string): boolean => Object.keys(except).some((part) => words.includes(part));
  const plans: PlanResult[] = [];
  for (const { plan, words } of problems.length > 0 || !faults ? [] : derived) {
    const isMeant = words.includes(only) && kinds?.includes(plan.kind) !== false;
    if (!isMeant || isLeftOut(words)) continue;
    const result = { plan, words, ...(await execute(scenario, baseline, plan)) };
    plans.push(result);
    onPlan?.(result);
  }
  return { scenario: scenario.name, writes: take.writes.length, plans, problems };
}

const problemsOf = ({ problem, steps }: Take): readonly string[] => [
  ...(problem === undefined ? [] : [problem]),
  ...(steps.at(-1)?.failing ?? []),
];

type Outcome = Pick<PlanResult, "outcome" | "differences" | "story">;

async function execute(scenario: Scenario, baseline: Baseline, plan: Plan): Promise<Outcome> {
  if (plan.kind === "stranger") return executeStranger(scenario, baseline, plan);
  if (plan.kind === "made anew") return executeMadeAnew(scenario, plan);
  const take = await liveThrough(scenario, { plan, at: days[0], kinds: baseline.take.kinds });
  return outcomeOf(scenario, take, divergence(baseline, take, judgementOf(plan)) ?? lostUpdate(take));
}

async function executeStranger(
  scenario: Scenario,
  baseline: Baseline,
  plan: Extract<Plan, { kind: "stranger" }>,
): Promise<Outcome> {
  const { take, roleOf } = baseline;
  const like = take.steps
    .flatMap(({ snapshot }) => snapshot?.objects ?? [])
    .findLast((found) => roleOf(namedAs(found)) === objectWords(plan.made));
  if (like === undefined) return unexecuted;
  const theirs = withStranger(scenario, plan, like);
  const lived = await liveThrough(theirs, { at: days[0], kinds: take.kinds });
  return outcomeOf(theirs, lived, harmDone(plan, baseline, lived));
}

/** Another life, in which the object is made anew, is compared with the same one in which nobody saw that it was gone. */
async function executeMadeAnew(
  scenario: Scenario,
  { step }: Extract<Plan, { kind: "made anew" }>,
): Promise<Outcome> {
  const again = lastApplied(scenario, step);
  if (again === undefined) return unexecuted;
  const anew = { ...scenario, steps: [...scenario.steps.slice(0, step), { apply: again }] };
  const plan: Plan = { kind: "unobserved", step };
  const baseline = await recordBaseline(anew);
  const take = await liveThrough(anew, { plan, at: days[0], kinds: baseline.take.kinds });
  return outcomeOf(anew, take, divergence(baseline, take, judgementOf(plan)));
}

const unexecuted: Outcome = { outcome: "unexecuted", differences: [], story: [] };

function outcomeOf(scenario: Scenario, take: Take, diverged: Divergence | undefined): Outcome {
  if (!take.hasMet)
    return { outcome: "unexecuted", differences: [], story: storyOf(take, scenario, take.steps.length) };
  if (diverged === undefined) return { outcome: "same", differences: [], story: [] };
  const { step, differences } = diverged;
  return { outcome: "differs", differences, story: storyOf(take, scenario, step) };
}
