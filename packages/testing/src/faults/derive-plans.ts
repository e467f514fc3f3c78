import { type Call, mayBeStale } from "@drover/fault-proxy";
import { writesOf } from "../run-record.ts";
import type { Baseline } from "./baseline.ts";
import { callName, writeName } from "./plan-decider.ts";
import { type MadeObject, objectWords, type Plan, type PlannedWrite } from "./plan.ts";
import { lastApplied, type Scenario } from "./scenario.ts";
import { anyName, namedAs } from "./state.ts";
import type { Take } from "./take.ts";

/** Every plan for what was seen in a fault-free run: one fault each, at each place where it can hurt. */
export function derivePlans(scenario: Scenario, baseline: Baseline): readonly Plan[] {
  const { take, again } = baseline;
  const writes = take.writes.map((call, i) => planned(i + 1, call, again.writes[i] ?? call));
  const steps = scenario.steps.map((_, i) => i + 1);
  return [
    ...writes.flatMap((write): readonly Plan[] => [
      { kind: "crash", when: "before", write },
      { kind: "crash", when: "after", write },
      { kind: "lost answer", write },
      ...(mayBeInterfered(take.writes[write.number - 1]) ? [{ kind: "interfered", write } as const] : []),
      { kind: "refused", status: refusalOf(take.writes[write.number - 1]), write },
    ]),
    ...downTimes(scenario, take, writes),
    ...staleViews(take, writes),
    ...unseenSteps(scenario).map((step): Plan => ({ kind: "unobserved", step })),
    ...steps
      .filter((step) => mayBeMadeAnew(scenario, take, step))
      .map((step): Plan => ({ kind: "made anew", step })),
    ...steps.map((step): Plan => ({ kind: "looked at again", step })),
    ...madeObjects(baseline).flatMap(({ made, lastStep, hasLabels }): readonly Plan[] => [
      ...(lastStep > 0 ? [{ kind: "taken away", step: lastStep, made } as const] : []),
      ...(made.name === anyName ? [] : [{ kind: "stranger", by: "name", made } as const]),
      ...(hasLabels ? [{ kind: "stranger", by: "labels", made } as const] : []),
    ]),
  ];
}

/** Steps that may be unseen: what a person does in code may build upon what the function has done by then. */
const unseenSteps = ({ steps }: Scenario): readonly number[] =>
  steps.slice(1).flatMap((next, i) => ("act" in next ? [] : [i + 1]));

/** After every write but those of a status, which are the last of their runs: a crash after one is as good as none. */
function downTimes(scenario: Scenario, take: Take, writes: readonly PlannedWrite[]): readonly Plan[] {
  const unseen = unseenSteps(scenario);
  return writes.flatMap((write): readonly Plan[] => {
    const call = take.writes[write.number - 1];
    const index = take.calls.findIndex((one) => one.call === call);
    const step = take.steps.findIndex(({ calls }) => calls > index);
    return call?.subresource === "" && unseen.includes(step) ? [{ kind: "down", step, write }] : [];
  });
}

/** What something holds is not gone before the function has seen to it, and so nobody can make it anew before that. */
function mayBeMadeAnew(scenario: Scenario, { steps }: Take, step: number): boolean {
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
function planned(number: number, call: Call, again: Call): PlannedWrite {
  return {
    number,
    what: certainOf(writeName(call), writeName(again)),
    words: certainOf(callName(call), callName(again)),
  };
}

/** Words and parts of paths that are the same twice; a star for each that is not. */
function certainOf(a: string, b: string): string {
  const [parts, others] = [a, b].map((text) => text.split(/([/ ])/));
  if (parts === undefined || parts.length !== others?.length) return a;
  return parts.map((part, i) => (part === others[i] ? part : anyName)).join("");
}

const mayBeInterfered = (call: Call | undefined): boolean =>
  call !== undefined && call.name !== "" && ["update", "patch", "delete"].includes(call.verb);

function refusalOf(call: Call | undefined): 409 | 500 | 503 {
  if (call === undefined || call.resource === "") return 503;
  return call.verb === "update" || call.verb === "patch" ? 409 : 500;
}

/**
 * For each run that wrote after having read what a cache may answer: as of before the step, and as of before the last run
 * of its key that made a difference, whose writes it does not see.
 */
function staleViews(take: Take, writes: readonly PlannedWrite[]): readonly Plan[] {
  return take.runs.flatMap(({ number, key, controller, calls }): readonly Plan[] => {
    const first = calls.find(({ call }) => call.isWrite);
    const write = first && writes[take.writes.indexOf(first.call)];
    if (write === undefined || !calls.some(({ call }) => mayBeStale(call))) return [];
    const step = take.steps.findIndex(({ runs }) => runs >= number);
    const earlier = take.runs.findLast(
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

interface Made {
  readonly made: MadeObject;
  /** After which it was still there; 0 where it was there after none. */
  readonly lastStep: number;
  readonly hasLabels: boolean;
}

/** The objects that the function created and that were there when somebody looked. */
function madeObjects({ take: { calls, steps }, roleOf }: Baseline): readonly Made[] {
  const created = calls.flatMap(({ call, server, committed }) => {
    const isCreated = call.verb === "create" || server?.status === 201;
    return isCreated && committed === true ? (server?.object?.uid ?? []) : [];
  });
  const found = [...new Set(created)].flatMap((uid): readonly Made[] => {
    const there = steps.map(({ snapshot }) =>
      snapshot?.objects.find(({ object }) => object.metadata.uid === uid),
    );
    const lastStep = there.findLastIndex((one) => one !== undefined);
    const one = there[lastStep];
    if (one === undefined) return [];
    const { apiVersion, kind, metadata } = one.object;
    const hasLabels = Object.keys(metadata.labels ?? {}).length > 0;
    const named = namedAs(one);
    const isCertain = roleOf(named) === objectWords(named);
    const name = isCertain ? named.name : anyName;
    return [{ made: { ...named, name, apiVersion, kind }, lastStep, hasLabels }];
  });
  // The latest one of a name: an earlier one was replaced by it.
  return [...new Map(found.map((one) => [JSON.stringify(one.made), one])).values()];
}
