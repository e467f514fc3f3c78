import { z } from "zod";
import { everyContenderName, roles, outcomes } from "../contenders/contender.ts";

/** How a bench process is started: one argument, as JSON. */
export const birth = z.object({
  contender: z.enum(everyContenderName),
  url: z.string(),
  queue: z.string(),
  role: z.enum(roles),
});
export type Birth = z.infer<typeof birth>;

/** What a run of a bench process does. */
const handling = z.discriminatedUnion("kind", [
  /** Does nothing. `report`: reports the number of runs once per turn of the event loop. */
  z.object({ kind: z.literal("count"), report: z.boolean() }),
  /** Reports its start, then lasts so many ms. */
  z.object({ kind: z.literal("announce"), lasts: z.number() }),
  /** Reports its start, then hangs until a message contains its outcome. */
  z.object({ kind: z.literal("hold") }),
]);
export type Handling = z.infer<typeof handling>;

/** Keys are numbered: `from` and so on, `distinct` different ones again and again, all below `cycle`. */
const wakes = z.object({
  from: z.number(),
  count: z.number(),
  distinct: z.number(),
  cycle: z.number(),
  perCall: z.number(),
});

const request = z.discriminatedUnion("ask", [
  /** Wake so many keys, but for no longer than `lasts` ms. Answers `woken`. */
  z.object({ ask: z.literal("wake"), ...wakes.shape, lasts: z.number().optional() }),
  z.object({ ask: z.literal("work"), concurrency: z.number(), handling }),
  z.object({ ask: z.literal("finish"), key: z.string(), outcome: z.enum(outcomes) }),
  /** Runs so far and CPU time so far. Answers `mark`. */
  z.object({ ask: z.literal("mark") }),
  z.object({ ask: z.literal("profile") }),
  /** Answers `profile`: the CPU profile since it was begun. */
  z.object({ ask: z.literal("profiled") }),
  /** Stop working and let go of the server. */
  z.object({ ask: z.literal("stop") }),
]);
export type Request = z.infer<typeof request>;
export const question = z.object({ id: z.number(), request });

const mark = z.object({
  runs: z.number(),
  /** user + system, µs. */
  cpu: z.number(),
  /** `now()`: one clock for all processes of the machine, ms. */
  at: z.number(),
});
export type Mark = z.infer<typeof mark>;

const woken = z.object({
  wakes: z.number(),
  began: z.number(),
  ended: z.number(),
  /** µs. */
  cpu: z.number(),
});
export type Woken = z.infer<typeof woken>;

/** The part of a V8 CPU profile that is looked at. Times in µs. */
export const cpuProfile = z.object({
  nodes: z.array(
    z.object({
      id: z.number(),
      callFrame: z.object({ functionName: z.string(), url: z.string(), lineNumber: z.number() }),
      children: z.array(z.number()).optional(),
    }),
  ),
  samples: z.array(z.number()),
  timeDeltas: z.array(z.number()),
});
export type CpuProfile = z.infer<typeof cpuProfile>;

export const report = z.discriminatedUnion("report", [
  z.object({ report: z.literal("ready") }),
  z.object({ report: z.literal("ran"), runs: z.number() }),
  z.object({ report: z.literal("started"), key: z.string(), at: z.number() }),
  z.object({ report: z.literal("ended"), key: z.string(), at: z.number() }),
  z.object({
    report: z.literal("answer"),
    id: z.number(),
    mark: mark.optional(),
    woken: woken.optional(),
    profile: cpuProfile.optional(),
  }),
]);
export type Report = z.infer<typeof report>;
