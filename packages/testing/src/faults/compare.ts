import { type Baseline, sideEffectsUntil } from "./baseline.ts";
import type { TestPlan } from "./test-plan.ts";
import { callName } from "./test-plan-decider.ts";
import { differingPaths, type ClusterState, clusterStateOf, type ObjectValues } from "./cluster-state.ts";
import type { ScenarioRun } from "./scenario-run.ts";
import type { Divergence } from "./divergence.ts";

/** Differences from the run without faults that a plan may have. */
export interface ComparisonRules {
  /** True if it may have created and deleted less: a state that no run has seen may be skipped. */
  readonly mayDoLess: boolean;
  /** The number of additional creations of each object that are correct, because it was deleted. */
  readonly moreCreates: number;
}

export const comparisonRulesOf = (plan: TestPlan): ComparisonRules => ({
  mayDoLess: plan.kind === "unobserved" || plan.kind === "recreated" || plan.kind === "down",
  moreCreates: plan.kind === "deleted" ? 1 : 0,
});

/** The first difference from the run without faults; undefined if the states, creations and deletions are the same. */
export function divergence(
  baseline: Baseline,
  scenarioRun: ScenarioRun,
  rules: ComparisonRules,
): Divergence | undefined {
  for (const [step, { snapshot, failing, idle }] of scenarioRun.steps.entries()) {
    const usual = baseline.scenarioRun.steps[step];
    const isLast = step === scenarioRun.steps.length - 1;
    const problem = isLast && scenarioRun.problem !== undefined ? [scenarioRun.problem] : [];
    const differences = [
      ...problem,
      ...failing.filter((one) => usual?.failing.includes(one) !== true),
      ...(snapshot === undefined || usual?.snapshot === undefined
        ? []
        : [
            ...idle.map(({ call }) => `sends ${callName(call)}, though nothing has changed`),
            ...stateDifferences(baseline, step, {
              was: clusterStateOf(usual.snapshot, baseline.stableNameOf),
              is: clusterStateOf(snapshot, baseline.stableNameOf),
            }),
            ...sideEffectDifferences(baseline, scenarioRun, step, rules),
          ]),
    ];
    if (differences.length > 0) return { step, differences };
  }
  return undefined;
}

/** The differences in the cluster's state after a step, one sentence each. */
export function stateDifferences(
  { isNondeterministic }: Baseline,
  step: number,
  { was, is }: { readonly was: ClusterState; readonly is: ClusterState },
): readonly string[] {
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((role) => {
    const [before, after] = [was.get(role) ?? [], is.get(role) ?? []];
    if (before.length !== after.length)
      return [`there are ${after.length} of ${role}, and without the fault ${before.length}`];
    const relevant = (values: ObjectValues): ObjectValues =>
      new Map([...values].filter(([path]) => !isNondeterministic(step, role, path)));
    const left = after.map(relevant);
    const missing = before.map(relevant).filter((values) => !removeEqual(left, values));
    return missing.flatMap((values, i) =>
      valueDifferences(role, values, left[i] ?? new Map<string, string>()),
    );
  });
}

/** Removes the first equal one; returns false if there is none. */
function removeEqual(from: ObjectValues[], values: ObjectValues): boolean {
  const index = from.findIndex((other) => differingPaths(other, values).length === 0);
  if (index >= 0) from.splice(index, 1);
  return index >= 0;
}

const mostNamed = 6;

function valueDifferences(role: string, was: ObjectValues, is: ObjectValues): readonly string[] {
  const shown = (value: string | undefined): string =>
    value === undefined ? "not there" : JSON.stringify(value);
  return differingPaths(was, is)
    .slice(0, mostNamed)
    .map(
      (path) => `${role}: ${path} is ${shown(is.get(path))}, and without the fault ${shown(was.get(path))}`,
    );
}

function sideEffectDifferences(
  baseline: Baseline,
  scenarioRun: ScenarioRun,
  step: number,
  { mayDoLess, moreCreates }: ComparisonRules,
): readonly string[] {
  const { stableNameOf } = baseline;
  const [usual, now] = [
    sideEffectsUntil(baseline, step),
    sideEffectsUntil({ scenarioRun, stableNameOf }, step),
  ];
  const differ = (what: "creates" | "deletes", word: string, more: number): readonly string[] =>
    [...new Set([...usual[what].keys(), ...now[what].keys()])].flatMap((role) => {
      const [before, after] = [usual[what].get(role) ?? 0, now[what].get(role) ?? 0];
      if (after <= before + more && (mayDoLess || after >= before)) return [];
      return [`${role} was ${word} ${times(after)}, and without the fault ${times(before)}`];
    });
  return [...differ("creates", "created", moreCreates), ...differ("deletes", "deleted", 0)];
}

function times(count: number): string {
  if (count === 0) return "never";
  return count === 1 ? "once" : `${count} times`;
}
