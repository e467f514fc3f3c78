import { sideEffectsOf } from "./side-effects.ts";
import { executeScenario } from "./execute-scenario.ts";
import type { Scenario } from "./scenario.ts";
import {
  differingPaths,
  namedObject,
  type NamedObject,
  type StableNameOf,
  stableNamesBy,
  type ClusterState,
  clusterStateOf,
} from "./cluster-state.ts";
import type { ScenarioRun } from "./scenario-run.ts";

/** The run without faults, and which of its values are the same every time. */
export interface Baseline {
  readonly scenarioRun: ScenarioRun;
  /** The same run with another start of the clock. */
  readonly repetition: ScenarioRun;
  readonly stableNameOf: StableNameOf;
  /** True for a value that differs between runs without faults, and so is not compared. */
  readonly isNondeterministic: (step: number, role: string, path: string) => boolean;
}

/** The start times of the two runs without faults. Values that differ between them depend on chance or on the clock. */
export const clockStarts = ["2026-01-01T00:00:00Z", "2026-01-02T12:34:56Z"] as const;

export async function recordBaseline(scenario: Scenario): Promise<Baseline> {
  const { uncompared = {} } = scenario;
  const repetition = await executeScenario(scenario, { at: clockStarts[1] });
  const scenarioRun = await executeScenario(scenario, { at: clockStarts[0], kinds: repetition.kinds });
  const nameOf = ({ resource, namespace, name }: NamedObject): string =>
    JSON.stringify([resource, namespace, name]);
  const [names, others] = [scenarioRun, repetition].map((each) => new Set(namedObjectsIn(each).map(nameOf)));
  const stableNameOf = stableNamesBy(
    (object) => names?.has(nameOf(object)) === true && others?.has(nameOf(object)) === true,
  );
  const chances = new Set(
    scenarioRun.steps.flatMap(({ snapshot }, step) => {
      const other = repetition.steps[step]?.snapshot;
      if (snapshot === undefined || other === undefined) return [];
      return differing(clusterStateOf(snapshot, stableNameOf), clusterStateOf(other, stableNameOf)).map(
        (path) => `${step} ${path}`,
      );
    }),
  );
  return {
    scenarioRun,
    repetition,
    stableNameOf,
    isNondeterministic: (step, role, path) =>
      Object.hasOwn(uncompared, path) || chances.has(`${step} ${role} ${path}`),
  };
}

/** All objects of the snapshots, and all that were created. */
function namedObjectsIn(scenarioRun: ScenarioRun): readonly NamedObject[] {
  const seen = scenarioRun.steps.flatMap(({ snapshot }) => (snapshot?.objects ?? []).map(namedObject));
  const made = scenarioRun.calls.flatMap(({ call, server }) =>
    server?.object === undefined ? [] : [{ resource: call.resource, ...server.object }],
  );
  return [...seen, ...made];
}

function differing(a: ClusterState, b: ClusterState): readonly string[] {
  return [...a].flatMap(([role, all]) =>
    (b.has(role) ? all : []).flatMap((values, i) => {
      const other = b.get(role)?.[i] ?? new Map<string, string>();
      return differingPaths(values, other).map((path) => `${role} ${path}`);
    }),
  );
}

/** The number of creations and deletions of each object until the end of a step. */
export const sideEffectsUntil = (
  { scenarioRun, stableNameOf }: Pick<Baseline, "scenarioRun" | "stableNameOf">,
  step: number,
) => sideEffectsOf(scenarioRun.calls.slice(0, scenarioRun.steps[step]?.calls), stableNameOf);
