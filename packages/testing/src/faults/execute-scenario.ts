import { messageOf } from "@drover/controller";
import { resourceNameOf, refOf } from "@drover/kube";
import { type SteppedRun, describeOutcome, writesOf } from "../simulation/stepped-run.ts";
import { NeverIdleError, runUntilIdle } from "../simulation/run-until-idle.ts";
import { type Simulation, StuckRunError } from "../simulation/simulation.ts";
import type { CreatedObject, TestPlan } from "./test-plan.ts";
import {
  openScenarioEnvironment,
  type ScenarioEnvironment,
  type ScenarioEnvironmentOptions,
} from "./scenario-environment.ts";
import { type Scenario, type ScenarioStep, ScenarioStepError } from "./scenario.ts";
import { type FoundObject, type ClusterSnapshot, snapshotCluster } from "./cluster-snapshot.ts";
import { anyName, namedObject } from "./cluster-state.ts";
import type { StepResult, ScenarioRun } from "./scenario-run.ts";

/** Runs a scenario with the fault of one plan, in a new cluster. Returns whatever the function does. */
export async function executeScenario(
  scenario: Scenario,
  options: ScenarioEnvironmentOptions,
): Promise<ScenarioRun> {
  const { plan, kinds = [] } = options;
  const environment = await openScenarioEnvironment(scenario, options);
  const steps: StepResult[] = [];
  let problem: string | undefined;
  let seenKinds = kinds;
  try {
    for (const given of scenario.given ?? []) await environment.user.apply(given);
    steps.push(await observeAfterStep(environment, plan, 0));
    for (const [i, step] of scenario.steps.entries()) {
      environment.before({ step: i + 1 });
      await performStep(environment, step).catch((error: unknown) => {
        throw step.at === undefined ? error : new ScenarioStepError(`${step.at}: ${messageOf(error)}`);
      });
      steps.push(await observeAfterStep(environment, plan, i + 1));
    }
    seenKinds = await environment.kinds();
  } catch (error) {
    if (!(error instanceof NeverIdleError || error instanceof StuckRunError)) throw error;
    problem = error.message;
    steps.push(unobservedResult(environment));
  } finally {
    await environment.close();
  }
  const { runs, calls, controllers, announcements } = environment.simulation;
  return {
    steps,
    runs,
    calls,
    problem,
    kinds: seenKinds,
    writes: environment.decider.writes,
    hasFired: environment.hasFired(),
    touched: environment.touched(),
    reconciled: new Map(controllers.map((one) => [one.name, resourceNameOf(refOf(one.for))])),
    announced: announcements.map(({ type, reason, note }) => `${type} ${reason}: ${note}`),
    missing: environment.simulation.missingPermissions(),
  };
}

async function performStep({ user, outside }: ScenarioEnvironment, step: ScenarioStep): Promise<void> {
  if ("apply" in step) await user.apply(step.apply);
  else if ("delete" in step) await user.delete(step.delete, step.delete.name);
  else await step.act(user, outside);
}

async function observeAfterStep(
  environment: ScenarioEnvironment,
  plan: TestPlan | undefined,
  step: number,
): Promise<StepResult> {
  if (plan === undefined || !("step" in plan) || plan.step !== step)
    return runUntilIdleAndObserve(environment);
  if (plan.kind === "down") await runUntilIdle(untilFaultFired(environment), environment.clock);
  if (plan.kind === "down" || plan.kind === "unobserved") return unobservedResult(environment);
  const taken = await runUntilIdleAndObserve(environment);
  const { simulation, clock } = environment;
  const from = simulation.runs.length;
  if (plan.kind === "deleted") {
    if (!(await deleteCreatedObject(environment, plan.made, taken.snapshot))) return taken;
    await runUntilIdle(simulation, clock);
  }
  await simulation.wakeAll();
  environment.markFired();
  const after = await runUntilIdleAndObserve(environment);
  const idle = plan.kind === "reconciled again" ? simulation.runs.slice(from).flatMap(writesOf) : [];
  return { ...after, idle };
}

/** A simulation that runs nothing more once the plan's fault has occurred. */
function untilFaultFired({ simulation, hasFired }: ScenarioEnvironment): Simulation {
  return {
    ...simulation,
    runNext: async () => (hasFired() ? undefined : simulation.runNext()),
    waitingKeys: async () => (hasFired() ? [] : simulation.waitingKeys()),
  };
}

/** Returns false if the object does not exist. */
async function deleteCreatedObject(
  { simulation, user }: ScenarioEnvironment,
  made: CreatedObject,
  snapshot?: ClusterSnapshot,
): Promise<boolean> {
  const created = new Set(simulation.calls.map(({ call, server }) => call.isWrite && server?.object?.uid));
  const isIt = ({ resource, object: { metadata } }: FoundObject): boolean =>
    resource === made.resource &&
    (metadata.namespace ?? "") === made.namespace &&
    (made.name === anyName ? created.has(metadata.uid) : metadata.name === made.name);
  const found = snapshot?.objects.find(isIt);
  if (found === undefined) return false;
  const { namespace, name } = namedObject(found);
  return user.delete(made, [namespace, name].filter((part) => part !== "").join("/"));
}

async function runUntilIdleAndObserve(environment: ScenarioEnvironment): Promise<StepResult> {
  await runUntilIdle(environment.simulation, environment.clock);
  const { failing: missing, ...came } = unobservedResult(environment);
  return {
    ...came,
    snapshot: await observeCluster(environment),
    failing: [...missing, ...failingKeys(environment.simulation.runs)],
  };
}

const unobservedResult = ({ simulation }: ScenarioEnvironment): StepResult => ({
  runs: simulation.runs.length,
  calls: simulation.calls.length,
  snapshot: undefined,
  idle: [],
  failing: simulation.missingPermissions(),
});

async function observeCluster(environment: ScenarioEnvironment): Promise<ClusterSnapshot> {
  return snapshotCluster(
    environment.simulation.lister,
    await environment.kinds(),
    await environment.outside?.state(),
  );
}

/** The keys with a last run that did not succeed, and its outcome. */
function failingKeys(runs: readonly SteppedRun[]): readonly string[] {
  const last = new Map(runs.map((run) => [`${run.controller} ${run.key}`, run]));
  return [...last.values()]
    .filter(({ outcome: { kind } }) => kind !== "done" && kind !== "gone")
    .map((run) => `${run.key} ${describeOutcome(run)}`);
}
