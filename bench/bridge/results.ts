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
