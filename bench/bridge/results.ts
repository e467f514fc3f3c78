import type { Plan } from "./plan.ts";
import type { ReplayFigures } from "./questions/replay.ts";
import type { RestartFigures } from "./questions/restart.ts";
import type { SteadyFigures } from "./questions/steady.ts";

/** What can be asked for on its own. */
export const questions = ["restart", "replay", "steady"] as const;
export type Question = (typeof questions)[number];

/** Every figure of a run of the bench. What was not asked is missing. */
export interface Results {
  restart?: RestartFigures;
  replay?: ReplayFigures;
  steady?: SteadyFigures;
}

/** What every question is given. */
export interface Stage {
  readonly plan: Plan;
  /** The Go program. */
  readonly program: string;
  /** What is started as the bridge: its sources, or a bundle. */
  readonly bridge: string;
  readonly progress: (line: string) => void;
}
