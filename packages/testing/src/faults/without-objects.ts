import { keyOf, type KubeObject } from "@drover/kube";
import type { ScenarioRun } from "./scenario-run.ts";

/**
 * The run of a scenario without some objects, the objects that they own, and the calls of runs for these.
 *
 * @param isOut true for an object to leave out.
 */
export function withoutObjects(
  scenarioRun: ScenarioRun,
  isOut: (object: KubeObject) => boolean,
): ScenarioRun {
  const { steps, runs, calls, reconciled } = scenarioRun;
  const all = steps.flatMap(({ snapshot }) => snapshot?.objects ?? []);
  const out = new Set(all.flatMap(({ object }) => (isOut(object) ? [object.metadata.uid] : [])));
  for (let size = -1; size !== out.size;) {
    size = out.size;
    for (const { object } of all)
      if (object.metadata.ownerReferences?.some(({ uid }) => out.has(uid)) === true)
        out.add(object.metadata.uid);
  }
  const keys = new Set(
    all.flatMap(({ object, resource }) =>
      out.has(object.metadata.uid) ? [`${resource} ${keyOf(object)}`] : [],
    ),
  );
  const excludedRuns = runs.filter(({ controller, key }) =>
    keys.has(`${reconciled.get(controller) ?? ""} ${key}`),
  );
  const done = new Set(excludedRuns.flatMap((run) => run.calls));
  const failed = new Set(excludedRuns.map(({ key }) => key));
  const kept = calls.filter((call) => !done.has(call));
  const rest = steps.map((step) => ({
    ...step,
    calls: calls.slice(0, step.calls).filter((call) => !done.has(call)).length,
    failing: step.failing.filter((one) => ![...failed].some((key) => one.startsWith(`${key} `))),
    idle: step.idle.filter((call) => !done.has(call)),
    snapshot: step.snapshot && {
      ...step.snapshot,
      objects: step.snapshot.objects.filter(({ object }) => !out.has(object.metadata.uid)),
    },
  }));
  return { ...scenarioRun, steps: rest, calls: kept };
}
