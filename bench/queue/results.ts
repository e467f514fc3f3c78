import type { IdleFigures } from "./questions/idle-latency.ts";
import type { MemoryFigures } from "./questions/memory.ts";
import type { RedisBackFigures } from "./questions/redis-back.ts";
import type { RunFigures } from "./questions/runs.ts";
import type { TakeoverFigures } from "./questions/takeover.ts";
import type { WakeDuringRunFigures } from "./questions/wake-during-run.ts";
import type { WakeFigures } from "./questions/wakes.ts";
import type { WhereTimeGoes } from "./questions/where-time-goes.ts";

/** What can be asked for on its own. */
export const questions = [
  "memory",
  "wakes",
  "idle",
  "runs",
  "time",
  "wake-during-run",
  "takeover",
  "redis-back",
] as const;
export type Question = (typeof questions)[number];

/** Every figure of a run of the bench. What was not asked is empty. */
export const noResults = () => ({
  memory: new Array<MemoryFigures>(),
  wakes: new Array<WakeFigures>(),
  idle: new Array<IdleFigures>(),
  runs: new Array<RunFigures>(),
  time: new Array<WhereTimeGoes>(),
  wakeDuringRun: new Array<WakeDuringRunFigures>(),
  takeover: new Array<TakeoverFigures>(),
  redisBack: new Array<RedisBackFigures>(),
});
export type Results = ReturnType<typeof noResults>;
