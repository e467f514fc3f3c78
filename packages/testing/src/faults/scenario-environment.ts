import { resourceNameOf, type ResourceRef } from "@drover/kube";
import { openSimulation, type Simulation } from "../simulation/simulation.ts";
import { sandboxServers } from "../test-server.ts";
import { touchedKinds } from "../simulation/touched-kinds.ts";
import { installKinds, openUser, type User } from "../kubectl/user.ts";
import { type SteppedClock, steppedClock } from "../simulation/stepped-clock.ts";
import { interfere } from "./interference.ts";
import type { FreezePoint, TestPlan } from "./test-plan.ts";
import { testPlanDecider, type TestPlanDecider, staleViewName } from "./test-plan-decider.ts";
import type { OutsideWorld, Scenario } from "./scenario.ts";
import type { ScenarioRun } from "./scenario-run.ts";

export interface ScenarioEnvironmentOptions {
  /** Default: no fault. */
  readonly plan?: TestPlan | undefined;
  /** When the clock begins, ISO 8601. */
  readonly at: string;
  /** Kinds to observe from the beginning, in addition to those that the function watches. */
  readonly kinds?: readonly ResourceRef[];
}

/** The cluster, the clock and the servers of one run of a scenario. */
export interface ScenarioEnvironment {
  readonly simulation: Simulation;
  readonly clock: SteppedClock;
  readonly user: User;
  readonly outside: OutsideWorld | undefined;
  readonly decider: TestPlanDecider;
  /** True once the plan's fault has occurred. */
  readonly hasFired: () => boolean;
  /** The object that another client has changed. */
  touched(): ScenarioRun["touched"];
  /** Records that the plan's fault has occurred. */
  markFired(): void;
  /** Must be called before each step and run; freezes the stale view if the plan asks for it then. */
  before(moment: FreezePoint): void;
  /** The kinds that the function watches, and those that it has written. */
  kinds(): Promise<readonly ResourceRef[]>;
  close(): Promise<void>;
}

export async function openScenarioEnvironment(
  scenario: Scenario,
  { plan, at, kinds: known = [] }: ScenarioEnvironmentOptions,
): Promise<ScenarioEnvironment> {
  const clock = steppedClock(at);
  const { servers = sandboxServers } = scenario;
  const server = await servers(clock);
  const outside = await scenario.outside?.();
  const decider = testPlanDecider(plan, () => simulation.runs.length + 1);
  const view = plan?.kind === "stale view" ? await server.staleView() : undefined;
  let touched: ScenarioRun["touched"];
  let step = 0;
  const before = (moment: FreezePoint): void => {
    if ("step" in moment) ({ step } = moment);
    if (plan?.kind === "stale view" && isSame(plan.before, moment)) view?.freeze();
  };
  const simulation: Simulation = await openSimulation({
    start: scenario.start,
    deployedAs: scenario.deployedAs,
    isCalled: scenario.isCalled,
    server,
    clock,
    decider,
    beforeRun: (run) => before({ run }),
    ...(view && { views: { [staleViewName]: view.upstream } }),
    ...(outside && { outside: outside.urls }),
    // The only delay in plans is that of a write before which another client changes the object.
    async sleep() {
      const call = decider.affectedCall();
      const uid = call && (await interfere(simulation.server, call));
      if (uid !== undefined) touched = { uid, step };
    },
  });
  // The kinds of a called function are in manifests.
  const controllers = scenario.isCalled === true ? [] : simulation.controllers;
  await installKinds(simulation.client, controllers, scenario.crds);
  const user = openUser(simulation.client, simulation.server);
  let hasMet = plan === undefined || plan.kind === "unobserved";
  return {
    simulation,
    clock,
    user,
    outside,
    decider,
    before,
    hasFired: () => (plan?.kind === "interfered" ? touched !== undefined : hasMet || decider.hasFired()),
    touched: () => touched,
    markFired: () => void (hasMet = true),
    async kinds() {
      const met = await touchedKinds(simulation, (kind) => user.kind(kind));
      return [...new Map([...known, ...met].map((ref) => [resourceNameOf(ref), ref])).values()];
    },
    async close() {
      await simulation.close();
      await outside?.close();
    },
  };
}

const isSame = (a: FreezePoint, b: FreezePoint): boolean =>
  "run" in a ? "run" in b && a.run === b.run : "step" in b && a.step === b.step;
