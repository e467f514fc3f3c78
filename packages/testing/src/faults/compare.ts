import { type Baseline, deedsUntil } from "./baseline.ts";
import type { Plan } from "./plan.ts";
import { callName } from "./plan-decider.ts";
import { differingPaths, type State, stateOf, type Values } from "./state.ts";
import type { Take } from "./take.ts";

/** The first step after which all was not as it is without the fault, and what was not. */
export interface Divergence {
  readonly step: number;
  readonly differences: readonly string[];
}

/** How a plan's end is judged. */
export interface Judgement {
  /** Whether it may have created and deleted less: what was never seen need not be followed. */
  readonly mayDoLess: boolean;
  /** So many more creations of each object are right: it was taken away. */
  readonly moreCreates: number;
}

export const judgementOf = (plan: Plan): Judgement => ({
  mayDoLess: plan.kind === "unobserved" || plan.kind === "made anew" || plan.kind === "down",
  moreCreates: plan.kind === "taken away" ? 1 : 0,
});

/** Undefined where a plan came to the same end, and by the same creations and deletions. */
export function divergence(baseline: Baseline, take: Take, judgement: Judgement): Divergence | undefined {
  for (const [step, { snapshot, failing, idle }] of take.steps.entries()) {
    const usual = baseline.take.steps[step];
    const isLast = step === take.steps.length - 1;
    const problem = isLast && take.problem !== undefined ? [take.problem] : [];
    const differences = [
      ...problem,
      ...failing.filter((one) => usual?.failing.includes(one) !== true),
      ...(snapshot === undefined || usual?.snapshot === undefined
        ? []
        : [
            ...idle.map(({ call }) => `does ${callName(call)}, though nothing has happened`),
            ...stateDifferences(baseline, step, {
              was: stateOf(usual.snapshot, baseline.roleOf),
              is: stateOf(snapshot, baseline.roleOf),
            }),
            ...deedDifferences(baseline, take, step, judgement),
          ]),
    ];
    if (differences.length > 0) return { step, differences };
  }
  return undefined;
}

/** What is not as it is without the fault, after a step. */
export function stateDifferences(
  { isByChance }: Baseline,
  step: number,
  { was, is }: { readonly was: State; readonly is: State },
): readonly string[] {
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((role) => {
    const [before, after] = [was.get(role) ?? [], is.get(role) ?? []];
    if (before.length !== after.length)
      return [`there are ${after.length} of ${role}, and without the fault ${before.length}`];
    const relevant = (values: Values): Values =>
      new Map([...values].filter(([path]) => !isByChance(step, role, path)));
    const left = after.map(relevant);
    const missing = before.map(relevant).filter((values) => !take(left, values));
    return missing.flatMap((values, i) =>
      valueDifferences(role, values, left[i] ?? new Map<string, string>()),
    );
  });
}

/** Takes one out that is equal; false where there is none. */
function take(from: Values[], values: Values): boolean {
  const index = from.findIndex((other) => differingPaths(other, values).length === 0);
  if (index >= 0) from.splice(index, 1);
  return index >= 0;
}

const mostNamed = 6;

function valueDifferences(role: string, was: Values, is: Values): readonly string[] {
  const shown = (value: string | undefined): string =>
    value === undefined ? "not there" : JSON.stringify(value);
  return differingPaths(was, is)
    .slice(0, mostNamed)
    .map(
      (path) => `${role}: ${path} is ${shown(is.get(path))}, and without the fault ${shown(was.get(path))}`,
    );
}

function deedDifferences(
  baseline: Baseline,
  take: Take,
  step: number,
  { mayDoLess, moreCreates }: Judgement,
): readonly string[] {
  const { roleOf } = baseline;
  const [usual, now] = [deedsUntil(baseline, step), deedsUntil({ take, roleOf }, step)];
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
