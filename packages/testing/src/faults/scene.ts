import { nameOf, type ResourceRef } from "@drover/kube";
import { openStage, type Stage } from "../stage.ts";
import { sandboxes } from "../test-server.ts";
import { touchedKinds } from "../touched-kinds.ts";
import { installKinds, openUser, type User } from "../user.ts";
import { type VirtualClock, virtualClock } from "../virtual-clock.ts";
import { interfere } from "./interference.ts";
import type { Moment, Plan } from "./plan.ts";
import { planDecider, type PlanDecider, staleView } from "./plan-decider.ts";
import type { OutsideWorld, Scenario } from "./scenario.ts";
import type { Take } from "./take.ts";

export interface SceneOptions {
  /** Left out: nothing goes wrong. */
  readonly plan?: Plan | undefined;
  /** When the clock begins, ISO 8601. */
  readonly at: string;
  /** To be looked at from the beginning, beside those that the function follows. */
  readonly kinds?: readonly ResourceRef[];
}

/** All that a scenario is lived through with, made for it alone. */
export interface Scene {
  readonly stage: Stage;
  readonly clock: VirtualClock;
  readonly user: User;
  readonly outside: OutsideWorld | undefined;
  readonly decider: PlanDecider;
  /** Whether the plan's fault has met what it was meant for. */
  readonly hasMet: () => boolean;
  /** What somebody else has changed at the wrong moment. */
  touched(): Take["touched"];
  /** It has. */
  met(): void;
  /** To be called before a step or a run: a view may have to freeze. */
  before(moment: Moment): void;
  /** The kinds that the function follows, and those that it has written. */
  kinds(): Promise<readonly ResourceRef[]>;
  close(): Promise<void>;
}

export async function openScene(
  scenario: Scenario,
  { plan, at, kinds: known = [] }: SceneOptions,
): Promise<Scene> {
  const clock = virtualClock(at);
  const { servers = sandboxes } = scenario;
  const server = await servers(clock);
  const outside = await scenario.outside?.();
  const decider = planDecider(plan, () => stage.runs.length + 1);
  const view = plan?.kind === "stale view" ? await server.staleView() : undefined;
  let touched: Take["touched"];
  let step = 0;
  const before = (moment: Moment): void => {
    if ("step" in moment) ({ step } = moment);
    if (plan?.kind === "stale view" && isSame(plan.before, moment)) view?.freeze();
  };
  const stage: Stage = await openStage({
    start: scenario.start,
    deployedAs: scenario.deployedAs,
    server,
    clock,
    decider,
    beforeRun: (run) => before({ run }),
    ...(view && { views: { [staleView]: view.upstream } }),
    ...(outside && { outside: outside.urls }),
    // The one thing that plans have wait: a write that somebody else comes before.
    async sleep() {
      const call = decider.met();
      const uid = call && (await interfere(stage.server, call));
      if (uid !== undefined) touched = { uid, step };
    },
  });
  await installKinds(stage.client, stage.controllers, scenario.crds);
  const user = openUser(stage.client, stage.server);
  let hasMet = plan === undefined || plan.kind === "unobserved";
  return {
    stage,
    clock,
    user,
    outside,
    decider,
    before,
    hasMet: () => (plan?.kind === "interfered" ? touched !== undefined : hasMet || decider.hasMet()),
    touched: () => touched,
    met: () => void (hasMet = true),
    async kinds() {
      const met = await touchedKinds(stage, (kind) => user.kind(kind));
      return [...new Map([...known, ...met].map((ref) => [nameOf(ref), ref])).values()];
    },
    async close() {
      await stage.close();
      await outside?.close();
    },
  };
}

const isSame = (a: Moment, b: Moment): boolean =>
  "run" in a ? "run" in b && a.run === b.run : "step" in b && a.step === b.step;
