import { outcomeKinds } from "@drover/queue";
import type { Socket } from "node:net";
import { createInterface } from "node:readline";
import { z } from "zod";

/** How one run goes, as the world wants it. */
export const planSchema = z.object({
  outcome: z.enum(["done", "wait", "retry", "conflict", "terminal", "gone"]),
  /** Look again after that many milliseconds. */
  after: z.number().optional(),
  /** Throw instead of returning the outcome. */
  throws: z.boolean(),
  /** What the run takes; ends at once when its signal fires. */
  work: z.number(),
  /** Milliseconds in which the process does nothing else: no timer, no socket. */
  busy: z.number(),
  /** Milliseconds in which the run ignores its signal. */
  ignoresSignal: z.number(),
  /** Wait for `go`. */
  hold: z.boolean(),
});
export type Plan = z.infer<typeof planSchema>;

const dying = z.object({
  command: z.number(),
  phase: z.enum(["before", "sent", "answered"]),
  /** Default: SIGKILL. */
  signal: z.enum(["SIGKILL", "SIGSTOP"]).optional(),
});
const wake = z.object({ key: z.string(), version: z.number(), class: z.enum(["change", "listing"]) });

/** Orders of the world to a process. */
export const orderSchema = z.discriminatedUnion("order", [
  /** First of all: what to work on, and how. `dies` counts from here. */
  z.object({
    order: z.literal("open"),
    redisUrl: z.string(),
    controller: z.string(),
    times: z.object({ lease: z.number(), renewal: z.number(), recoveryWindow: z.number() }),
    backoff: z.object({ first: z.number(), longest: z.number() }),
    concurrency: z.number(),
    timeout: z.number(),
    dies: dying.optional(),
  }),
  z.object({ order: z.literal("run"), token: z.string(), version: z.number(), plan: planSchema }),
  z.object({ order: z.literal("go"), token: z.string() }),
  z.object({ order: z.literal("wake"), batch: z.number(), wakes: z.array(wake) }),
  z.object({ order: z.literal("die"), dies: dying }),
  z.object({ order: z.literal("live") }),
  z.object({ order: z.literal("count"), id: z.number() }),
]);
export type Order = z.infer<typeof orderSchema>;
export type Dying = z.infer<typeof dying>;

const run = { key: z.string(), token: z.string(), sent: z.number() };
const outcome = z.enum(outcomeKinds);

/** Facts that a process reports. They are recorded in the log, with the name of the process. */
const processFacts = [
  /** `queue.wake` has resolved: from now on the queue answers for these wakes. */
  z.object({ fact: z.literal("acknowledged"), batch: z.number() }),
  /** `queue.wake` has rejected; the producer tries again. */
  z.object({ fact: z.literal("refused"), batch: z.number(), error: z.string() }),
  /** A run is about to write. It was allowed when `held`; `sent` was taken right before `hasLease()` was called. */
  z.object({ fact: z.literal("effect"), ...run, held: z.boolean() }),
  /** A handler is about to return (or to throw, which is a `retry`). `again`: the outcome names a time to look again. */
  z.object({ fact: z.literal("ended"), ...run, outcome, again: z.boolean() }),
  /** The queue has accepted a run's outcome. */
  z.object({ fact: z.literal("settled"), key: run.key, token: run.token, outcome }),
  /** A process is ready. */
  z.object({ fact: z.literal("up") }),
  /** A process cannot use this Redis yet, with the reason. */
  z.object({ fact: z.literal("unfit"), error: z.string() }),
  /** A process is about to be killed or stopped, by itself. */
  z.object({ fact: z.literal("dying") }),
] as const;
export type ProcessFact = z.infer<(typeof processFacts)[number]>;

/** Reports of a process to the world: facts, and those that the world acts on. */
export const reportSchema = z.discriminatedUnion("fact", [
  ...processFacts,
  z.object({ fact: z.literal("hello"), process: z.string() }),
  z.object({ fact: z.literal("start"), ...run, fails: z.number() }),
  z.object({ fact: z.literal("lost"), incarnation: z.string() }),
  z.object({
    fact: z.literal("counted"),
    id: z.number(),
    /** Undefined when Redis did not answer. */
    stats: z
      .object({ due: z.number(), scheduled: z.number(), running: z.number(), parked: z.number() })
      .optional(),
  }),
]);
export type Report = z.infer<typeof reportSchema>;
export type Counts = NonNullable<Extract<Report, { fact: "counted" }>["stats"]>;

/** One message, one line. */
export const send = (socket: Socket, message: Order | Report): void =>
  void socket.write(`${JSON.stringify(message)}\n`);

/** Calls `receive` for each message of the schema's; a line that is none ends the process: both ends are ours. */
export function receive<T>(socket: Socket, schema: z.ZodType<T>, receive: (message: T) => void): void {
  createInterface({ input: socket, crlfDelay: Infinity })
    .on("line", (line) => receive(schema.parse(JSON.parse(line))))
    .on("error", () => undefined);
}
