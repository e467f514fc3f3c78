import { type ProxiedCall, mayBeStale } from "../fault-proxy/index.ts";
import { writesOf } from "../simulation/stepped-run.ts";
import type { Baseline } from "./baseline.ts";
import { callName, writeName } from "./test-plan-decider.ts";
import { type CreatedObject, describeObject, type TestPlan, type PlannedWrite } from "./test-plan.ts";
import { lastApplied, type Scenario } from "./scenario.ts";
import { anyName, namedObject } from "./cluster-state.ts";
import type { ScenarioRun } from "./scenario-run.ts";

/** Every plan for what was seen in a fault-free run: one fault each, at each place where it can hurt. */
export function derivePlans(scenario: Scenario, baseline: Baseline): readonly TestPlan[] {
  const { scenarioRun, repetition } = baseline;
  const writes = scenarioRun.writes.map((call, i) => plannedWrite(i + 1, call, repetition.writes[i] ?? call));
  const steps = scenario.steps.map((_, i) => i + 1);
  return [
    ...writes.flatMap((write): readonly TestPlan[] => [
      { kind: "crash", when: "before", write },
      { kind: "crash", when: "after", write },
      { kind: "lost answer", write },
      ...(mayBeInterfered(scenarioRun.writes[write.number - 1])
        ? [{ kind: "interfered", write } as const]
        : []),
      { kind: "refused", status: refusalOf(scenarioRun.writes[write.number - 1]), write },
    ]),
    ...downtimePlans(scenario, scenarioRun, writes),
    ...staleViewPlans(scenarioRun, writes),
    ...unobservableSteps(scenario).map((step): TestPlan => ({ kind: "unobserved", step })),
    ...steps
      .filter((step) => mayBeMadeAnew(scenario, scenarioRun, step))
      .map((step): TestPlan => ({ kind: "made anew", step })),
    ...steps.map((step): TestPlan => ({ kind: "looked at again", step })),
    ...createdObjects(baseline).flatMap(({ made, lastStep, hasLabels }): readonly TestPlan[] => [
      ...(lastStep > 0 ? [{ kind: "taken away", step: lastStep, made } as const] : []),
      ...(made.name === anyName ? [] : [{ kind: "stranger", by: "name", made } as const]),
      ...(hasLabels ? [{ kind: "stranger", by: "labels", made } as const] : []),
    ]),
  ];
}

/** Steps that may be unseen: what a person does in code may build upon what the function has done by then. */
const unobservableSteps = ({ steps }: Scenario): readonly number[] =>
  steps.slice(1).flatMap((next, i) => ("act" in next ? [] : [i + 1]));

/** After every write but those of a status, which are the last of their runs: a crash after one is as good as none. */
function downtimePlans(
  scenario: Scenario,
  scenarioRun: ScenarioRun,
  writes: readonly PlannedWrite[],
): readonly TestPlan[] {
  const unseen = unobservableSteps(scenario);
  return writes.flatMap((write): readonly TestPlan[] => {
    const call = scenarioRun.writes[write.number - 1];
    const index = scenarioRun.calls.findIndex((one) => one.call === call);
    const step = scenarioRun.steps.findIndex(({ calls }) => calls > index);
    return call?.subresource === "" && unseen.includes(step) ? [{ kind: "down", step, write }] : [];
  });
}

/** What something holds is not gone before the function has seen to it, and so nobody can make it anew before that. */
function mayBeMadeAnew(scenario: Scenario, { steps }: ScenarioRun, step: number): boolean {
  const deleted = scenario.steps[step - 1];
  if (deleted === undefined || !("delete" in deleted) || lastApplied(scenario, step) === undefined)
    return false;
  const { kind, name } = deleted.delete;
  const object = steps[step - 1]?.snapshot?.objects.find(
    (one) => one.object.kind === kind && one.object.metadata.name === name.split("/").at(-1),
  )?.object;
  return object !== undefined && (object.metadata.finalizers ?? []).length === 0;
}

/** @param again the same write on another day: where they differ, chance is at work. */
function plannedWrite(number: number, call: ProxiedCall, again: ProxiedCall): PlannedWrite {
  return {
    number,
    what: commonParts(writeName(call), writeName(again)),
    words: commonParts(callName(call), callName(again)),
  };
}

/** Words and parts of paths that are the same twice; a star for each that is not. */
function commonParts(a: string, b: string): string {
  const [parts, others] = [a, b].map((text) => text.split(/([/ ])/));
  if (parts === undefined || parts.length !== others?.length) return a;
  return parts.map((part, i) => (part === others[i] ? part : anyName)).join("");
}

const mayBeInterfered = (call: ProxiedCall | undefined): boolean =>
  call !== undefined && call.name !== "" && ["update", "patch", "delete"].includes(call.verb);

function refusalOf(call: ProxiedCall | undefined): 409 | 500 | 503 {
  if (call === undefined || call.resource === "") return 503;
  return call.verb === "update" || call.verb === "patch" ? 409 : 500;
}

/**
 * For each run that wrote after having read what a cache may answer: as of before the step, and as of before the last run
 * of its key that made a difference, whose writes it does not see.
 */
function staleViewPlans(scenarioRun: ScenarioRun, writes: readonly PlannedWrite[]): readonly TestPlan[] {
  return scenarioRun.runs.flatMap(({ number, key, controller, calls }): readonly TestPlan[] => {
    const first = calls.find(({ call }) => call.isWrite);
    const write = first && writes[scenarioRun.writes.indexOf(first.call)];
    if (write === undefined || !calls.some(({ call }) => mayBeStale(call))) return [];
    const step = scenarioRun.steps.findIndex(({ runs }) => runs >= number);
    const earlier = scenarioRun.runs.findLast(
      (run) =>
        run.number < number &&
        run.key === key &&
        run.controller === controller &&
        writesOf(run).some(({ call }) => call.subresource === ""),
    );
    return [
      ...(step > 0 ? [{ kind: "stale view", run: number, before: { step }, write } as const] : []),
      ...(earlier
        ? [{ kind: "stale view", run: number, before: { run: earlier.number }, write } as const]
        : []),
    ];
  });
}

interface CreatedObjectInfo {
  readonly made: CreatedObject;
  /** After which it was still there; 0 where it was there after none. */
  readonly lastStep: number;
  readonly hasLabels: boolean;
}

/** The objects that the function created and that were there when somebody looked. */
function createdObjects({
  scenarioRun: { calls, steps },
  stableNameOf,
}: Baseline): readonly CreatedObjectInfo[] {
  const created = calls.flatMap(({ call, server, committed }) => {
    const isCreated = call.verb === "create" || server?.status === 201;
    return isCreated && committed === true ? (server?.object?.uid ?? []) : [];
  });
  const found = [...new Set(created)].flatMap((uid): readonly CreatedObjectInfo[] => {
    const there = steps.map(({ snapshot }) =>
      snapshot?.objects.find(({ object }) => object.metadata.uid === uid),
    );
    const lastStep = there.findLastIndex((one) => one !== undefined);
    const one = there[lastStep];
    if (one === undefined) return [];
    const { apiVersion, kind, metadata } = one.object;
    const hasLabels = Object.keys(metadata.labels ?? {}).length > 0;
    const named = namedObject(one);
    const isCertain = stableNameOf(named) === describeObject(named);
    const name = isCertain ? named.name : anyName;
    return [{ made: { ...named, name, apiVersion, kind }, lastStep, hasLabels }];
  });
  // The latest one of a name: an earlier one was replaced by it.
  return [...new Map(found.map((one) => [JSON.stringify(one.made), one])).values()];
}
