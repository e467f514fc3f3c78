import { nameOf, refOf } from "@drover/kube";
import { type RunRecord, verdictWords, writesOf } from "../run-record.ts";
import { NeverSettledError, settle } from "../settle.ts";
import { type Stage, StuckRunError } from "../stage.ts";
import type { MadeObject, Plan } from "./plan.ts";
import { openScene, type Scene, type SceneOptions } from "./scene.ts";
import type { Scenario, Step } from "./scenario.ts";
import { type Found, type Snapshot, snapshotOf } from "./snapshot.ts";
import { anyName, namedAs } from "./state.ts";
import type { StepTake, Take } from "./take.ts";

/** Lives through a scenario with one plan's fault, from nothing to its end. Whatever the function does, it answers. */
export async function liveThrough(scenario: Scenario, options: SceneOptions): Promise<Take> {
  const { plan, kinds = [] } = options;
  const scene = await openScene(scenario, options);
  const steps: StepTake[] = [];
  let problem: string | undefined;
  let seenKinds = kinds;
  try {
    for (const given of scenario.given ?? []) await scene.user.apply(given);
    steps.push(await seen(scene, plan, 0));
    for (const [i, step] of scenario.steps.entries()) {
      scene.before({ step: i + 1 });
      await act(scene, step);
      steps.push(await seen(scene, plan, i + 1));
    }
    seenKinds = await scene.kinds();
  } catch (error) {
    if (!(error instanceof NeverSettledError || error instanceof StuckRunError)) throw error;
    problem = error.message;
    steps.push(unseen(scene));
  } finally {
    await scene.close();
  }
  const { runs, calls, controllers, announcements } = scene.stage;
  const { writes } = scene.decider;
  const came = { hasMet: scene.hasMet(), touched: scene.touched(), kinds: seenKinds, problem };
  const said = {
    reconciled: new Map(controllers.map(({ name, for: resource }) => [name, nameOf(refOf(resource))])),
    announced: announcements.map(({ type, reason, note }) => `${type} ${reason}: ${note}`),
    missing: scene.stage.missing(),
  };
  return { steps, runs, calls, writes, ...came, ...said };
}

async function act({ user, outside }: Scene, step: Step): Promise<void> {
  if ("apply" in step) await user.apply(step.apply);
  else if ("delete" in step) await user.delete(step.delete, step.delete.name);
  else await step.act(user, outside);
}

async function seen(scene: Scene, plan: Plan | undefined, step: number): Promise<StepTake> {
  if (plan === undefined || !("step" in plan) || plan.step !== step) return settled(scene);
  if (plan.kind === "down") await settle(untilMet(scene), scene.clock);
  if (plan.kind === "down" || plan.kind === "unobserved") return unseen(scene);
  const taken = await settled(scene);
  const { stage, clock } = scene;
  const from = stage.runs.length;
  if (plan.kind === "taken away") {
    if (!(await takeAway(scene, plan.made, taken.snapshot))) return taken;
    await settle(stage, clock);
  }
  await stage.wakeAll();
  scene.met();
  const after = await settled(scene);
  const idle = plan.kind === "looked at again" ? stage.runs.slice(from).flatMap(writesOf) : [];
  return { ...after, idle };
}

/** On which nothing happens any more once the plan's fault has met its call. */
function untilMet({ stage, hasMet }: Scene): Stage {
  return {
    ...stage,
    step: async () => (hasMet() ? undefined : stage.step()),
    waiting: async () => (hasMet() ? [] : stage.waiting()),
  };
}

/** False where there is none such. */
async function takeAway({ stage, user }: Scene, made: MadeObject, snapshot?: Snapshot): Promise<boolean> {
  const created = new Set(stage.calls.map(({ call, server }) => call.isWrite && server?.object?.uid));
  const isIt = ({ resource, object: { metadata } }: Found): boolean =>
    resource === made.resource &&
    (metadata.namespace ?? "") === made.namespace &&
    (made.name === anyName ? created.has(metadata.uid) : metadata.name === made.name);
  const found = snapshot?.objects.find(isIt);
  if (found === undefined) return false;
  const { namespace, name } = namedAs(found);
  return user.delete(made, [namespace, name].filter((part) => part !== "").join("/"));
}

async function settled(scene: Scene): Promise<StepTake> {
  await settle(scene.stage, scene.clock);
  const { failing: missing, ...came } = unseen(scene);
  return { ...came, snapshot: await taken(scene), failing: [...missing, ...failing(scene.stage.runs)] };
}

const unseen = ({ stage }: Scene): StepTake => ({
  runs: stage.runs.length,
  calls: stage.calls.length,
  snapshot: undefined,
  idle: [],
  failing: stage.missing(),
});

async function taken(scene: Scene): Promise<Snapshot> {
  return snapshotOf(scene.stage.lister, await scene.kinds(), await scene.outside?.state());
}

/** What the last run of each key came to, where that is no good end. */
function failing(runs: readonly RunRecord[]): readonly string[] {
  const last = new Map(runs.map((run) => [`${run.controller} ${run.key}`, run]));
  return [...last.values()]
    .filter(({ verdict: { kind } }) => kind !== "done" && kind !== "gone")
    .map((run) => `${run.key} ${verdictWords(run)}`);
}
