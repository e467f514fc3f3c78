import { type ProxiedCall, mayBeStale } from "../fault-proxy/index.ts";
import { writesOf } from "../simulation/stepped-run.ts";
import type { Baseline } from "./baseline.ts";
import { callName, writeName } from "./test-plan-decider.ts";
import { type CreatedObject, describeObject, type TestPlan, type PlannedWrite } from "./test-plan.ts";
import { lastApplied, type Scenario } from "./scenario.ts";
import { anyName, namedObject } from "./cluster-state.ts";
import type { ScenarioRun } from "./scenario-run.ts";

/** Derives all plans from the run without faults: one fault each, at every place where it can have an effect. */
export function derivePlans(scenario: Scenario, baseline: Baseline): readonly TestPlan[] {
  const { scenarioRun, repetition } = baseline;
  const planned = scenarioRun.writes.map((call, i) => {
    return { call, write: plannedWrite(i + 1, call, repetition.writes[i] ?? call) };
  });
  const writes = planned.map(({ write }) => write);
  const steps = scenario.steps.map((_, i) => i + 1);
  return [
    ...planned.flatMap(({ call, write }): readonly TestPlan[] => [
      { kind: "crash", when: "before", write },
      { kind: "crash", when: "after", write },
      { kind: "lost answer", write },
      ...(scenario.isCalled === true && call.resource === ""
        ? ([
            { kind: "timed out", write },
            { kind: "repeated", write },
          ] as const)
        : []),
      ...(mayBeInterfered(scenarioRun, call) ? [{ kind: "interfered", write } as const] : []),
      { kind: "refused", status: refusalOf(call), write },
    ]),
    ...downtimePlans(scenario, scenarioRun, writes),
    ...staleViewPlans(scenarioRun, writes),
    ...unobservableSteps(scenario).map((step): TestPlan => ({ kind: "unobserved", step })),
    ...steps
      .filter((step) => mayBeRecreated(scenario, scenarioRun, step))
      .map((step): TestPlan => ({ kind: "recreated", step })),
    ...steps.map((step): TestPlan => ({ kind: "reconciled again", step })),
    ...createdObjects(baseline).flatMap(({ made, lastStep, hasLabels }): readonly TestPlan[] => [
      ...(lastStep > 0 ? [{ kind: "deleted", step: lastStep, made } as const] : []),
      ...(made.name === anyName ? [] : [{ kind: "foreign object", by: "name", made } as const]),
      ...(hasLabels ? [{ kind: "foreign object", by: "labels", made } as const] : []),
    ]),
  ];
}

/** Steps that need no run after them. The next step, if it is code, may depend on what the function has done by then. */
const unobservableSteps = ({ steps }: Scenario): readonly number[] =>
  steps.slice(1).flatMap((next, i) => ("act" in next ? [] : [i + 1]));

/** After every write except that of a status, which is the last one of its run: a crash after it has no effect. */
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

/** An object with a finalizer is not gone before the function has run, so it cannot be recreated before that. */
function mayBeRecreated(scenario: Scenario, { steps }: ScenarioRun, step: number): boolean {
  const deleted = scenario.steps[step - 1];
  if (deleted === undefined || !("delete" in deleted) || lastApplied(scenario, step) === undefined)
    return false;
  const { kind, name } = deleted.delete;
  const object = steps[step - 1]?.snapshot?.objects.find(
    (one) => one.object.kind === kind && one.object.metadata.name === name.split("/").at(-1),
  )?.object;
  return object !== undefined && (object.metadata.finalizers ?? []).length === 0;
}

/** @param again the same write of the repetition: parts in which they differ are nondeterministic. */
function plannedWrite(number: number, call: ProxiedCall, again: ProxiedCall): PlannedWrite {
  return {
    number,
    what: commonParts(writeName(call), writeName(again)),
    words: commonParts(callName(call), callName(again)),
  };
}

/** The words and path segments that both texts have in common; a star for each other one. */
function commonParts(a: string, b: string): string {
  const [parts, others] = [a, b].map((text) => text.split(/([/ ])/));
  if (parts === undefined || parts.length !== others?.length) return a;
  return parts.map((part, i) => (part === others[i] ? part : anyName)).join("");
}

/** An apply that creates its object has none that others could change before it. */
function mayBeInterfered({ calls }: ScenarioRun, call: ProxiedCall): boolean {
  const created = calls.find((one) => one.call === call)?.server?.status === 201;
  return call.name !== "" && !created && ["update", "patch", "delete"].includes(call.verb);
}

function refusalOf({ resource, verb }: ProxiedCall): 409 | 500 | 503 {
  if (resource === "") return 503;
  return verb === "update" || verb === "patch" ? 409 : 500;
}

/**
 * For each run with a write after a read that a cache may answer: the state before the step, and the state before the
 * previous run of its key that changed something.
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
  /** The last step after which it existed; 0 if it existed after none. */
  readonly lastStep: number;
  readonly hasLabels: boolean;
}

/** The objects that the function created and that are in a snapshot. */
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
