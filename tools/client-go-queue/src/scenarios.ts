import { readFileSync } from "node:fs";
import { z } from "zod";

/** The file that `main.ts` prints. */
export const scenariosFile = new URL("../scenarios.json", import.meta.url);

const count = z.int().nonnegative();
const milliseconds = z.int().nonnegative();

/** To be seen after any step. */
const seen = {
  /** Keys that a get would give now. One that is being processed is not among them. */
  length: count,
  /** The timers that are set: key to milliseconds until it is added. client-go has at most one for a key. */
  waiting: z.record(z.string(), milliseconds),
  /** From `shutDownWithDrain` on: whether that call has returned. */
  drained: z.boolean().optional(),
};

/** `requeues`: the key's failures that are not forgotten (NumRequeues). */
const seenOfKey = { key: z.string(), requeues: count, ...seen };

const stepSchema = z.discriminatedUnion("do", [
  z.strictObject({ do: z.literal(["add", "forget", "done"]), ...seenOfKey }),
  z.strictObject({ do: z.literal("addAfter"), ms: milliseconds, ...seenOfKey }),
  /** `delay`: what the rate limiter asked for; an earlier timer of the key may make it shorter. */
  z.strictObject({ do: z.literal("addRateLimited"), delay: milliseconds, ...seenOfKey }),
  z.strictObject({
    do: z.literal("get"),
    /** Null where a get would block, or, with `shutdown`, where there will be no more keys. */
    got: z.string().nullable(),
    shutdown: z.literal(true).optional(),
    /** The key that it got. */
    requeues: count.optional(),
    ...seen,
  }),
  /** Time goes on, in one leap. */
  z.strictObject({ do: z.literal("advance"), ms: milliseconds, ...seen }),
  z.strictObject({ do: z.literal(["shutDown", "shutDownWithDrain"]), ...seen }),
]);

const scenarioSchema = z.strictObject({
  name: z.string(),
  /** The results of the steps. */
  sentence: z.string(),
  /** The n-th failure in a row waits base * 2^(n-1) milliseconds, and max at most. No jitter. */
  base: milliseconds,
  max: milliseconds,
  steps: z.array(stepSchema),
});

/** A call on the queue, or `advance` on its clock, and what was to be seen after it. All times are milliseconds. */
export type Step = z.infer<typeof stepSchema>;

/** Calls on a queue of their own, from the empty one on. */
export type Scenario = z.infer<typeof scenarioSchema>;

/**
 * The committed scenarios, in the order in which they are printed.
 *
 * @throws when scenarios.json is not what this file describes
 */
export function readScenarios(): readonly Scenario[] {
  return z.array(scenarioSchema).parse(JSON.parse(readFileSync(scenariosFile, "utf8")));
}
