import { z } from "zod";

const span = z.number().int().min(0).max(120_000);
const keys = z.array(z.number().int().min(0)).max(200);
const worker = z.templateLiteral(["worker-", z.number().int()]);
const producer = z.templateLiteral(["producer-", z.number().int()]);
/** Where in its talk with Redis a process dies: before its n-th command, with the command under way, or answered. */
const phase = z.enum(["before", "sent", "answered"]);
/** The n-th command from then on, of all connections of the process. */
const place = { command: z.number().int().min(1), phase };
const death = z.object({ who: z.union([worker, producer]), ...place });

/** Go on with the next step before this one is over: two things break at once. */
const beside = z.boolean().optional();

/** How the runs of a key end, until the faults are over. Then all succeed. */
const behaviour = z.enum([
  "works",
  "slow", // works, and takes a while
  "long", // works, and takes longer than a lease; also when the faults are over
  "fails", // always
  "flaky", // every other time
  "throws", // every other time
  "again", // works, and asks to be looked at again in a moment
  "later", // works, and asks to be looked at again in ten minutes
  "waits", // is neither done nor failed, and asks for a moment
  "conflicts", // every other time
  "terminal", // is given up, each time
  "gone", // every other time
]);

const mutation = z.object({
  /** Which of the keys that there are, sorted: 0 is the first, 0.999 the last. */
  at: z.number().min(0).lt(1),
  /** Instead: the first key that ends so, such as `:jobs:wait`. One that is not there can be of the wrong type. */
  named: z.string().optional(),
  how: z.enum(["remove", "wrong type", "truncate", "garbage"]),
});

/** The steps without a fault. */
const traffic = [
  /** Change the keys, each once, and wake them with one call. */
  z.object({ do: z.literal("change"), keys, by: producer }),
  /** Change a key that often, each time as soon as the wake before is acknowledged; overlaps the next steps. */
  z.object({
    do: z.literal("storm"),
    key: z.number().int(),
    times: z.number().int().max(1_000),
    by: producer,
  }),
  /** Wait until that many more runs have started. */
  z.object({ do: z.literal("runs"), count: z.number().int().max(1_000) }),
] as const;
/** Faults of the processes. `meanwhile` are keys that change while a fault lasts. */
const processFaults = [
  /** SIGKILL, at a command to come. */
  z.object({ do: z.literal("worker-kill"), who: worker, ...place, meanwhile: keys, beside }),
  z.object({ do: z.literal("producer-kill"), who: producer, ...place, meanwhile: keys, beside }),
  /** SIGKILL, now, all of them. */
  z.object({ do: z.literal("all-workers-kill"), meanwhile: keys }),
  /** SIGSTOP in the middle of a run, and SIGCONT. */
  z.object({ do: z.literal("worker-stop"), who: worker, for: span, meanwhile: keys, beside }),
  /** SIGSTOP at a command to come, and SIGCONT. All the while the first of the keys changes without end. */
  z.object({ do: z.literal("worker-freeze"), who: worker, ...place, for: span, meanwhile: keys, beside }),
  /** A loop in a handler that lets nothing else happen in the process. */
  z.object({ do: z.literal("worker-busy"), who: worker, for: span, meanwhile: keys, beside }),
  /** A handler that outlasts its timeout, ignores its signal, and writes when it continues. */
  z.object({ do: z.literal("worker-hang"), who: worker, for: span, meanwhile: keys, beside }),
  /** SIGTERM. */
  z.object({ do: z.literal("worker-drain"), who: worker, meanwhile: keys, beside }),
] as const;
/** Faults of Redis and of the data in it. */
const redisFaults = [
  z.object({ do: z.literal("redis-kill"), for: span, meanwhile: keys }),
  /** SIGKILL, and so much data that it is loading for a while when it is back. */
  z.object({ do: z.literal("redis-loading"), junk: z.number().int(), meanwhile: keys }),
  /** SIGSTOP of Redis. */
  z.object({ do: z.literal("redis-hang"), for: span, meanwhile: keys }),
  /** All connections are closed by Redis: replies get lost. */
  z.object({ do: z.literal("redis-cut"), times: z.number().int().max(50), meanwhile: keys }),
  z.object({ do: z.literal("redis-oom"), for: span, meanwhile: keys }),
  z.object({ do: z.literal("redis-readonly"), for: span, meanwhile: keys }),
  z.object({ do: z.literal("redis-noperm"), without: z.string(), for: span, meanwhile: keys }),
  z.object({ do: z.literal("redis-full-disk"), for: span, meanwhile: keys }),
  z.object({ do: z.literal("redis-flush"), meanwhile: keys }),
  /** The data of Redis before the last changes and `runs` runs are put back. */
  z.object({ do: z.literal("redis-old-dump"), runs: z.number().int(), meanwhile: keys }),
  /** A replica that lacks the last changes and `runs` runs takes over at the same address. */
  z.object({
    do: z.literal("redis-failover"),
    runs: z.number().int(),
    old: z.enum(["killed", "demoted", "cut off"]),
    meanwhile: keys,
  }),
  /** Add a job for every key, that often, whatever the ledger has: jobs may be doubled and late. */
  z.object({ do: z.literal("jobs-forge"), times: z.number().int().max(100), meanwhile: keys }),
  /** Break keys of BullMQ, or of the ledger. */
  z.object({ do: z.literal("jobs-mutate"), picks: z.array(mutation), meanwhile: keys }),
  z.object({
    do: z.literal("ledger-mutate"),
    picks: z.array(mutation),
    relist: z.boolean(),
    meanwhile: keys,
  }),
] as const;
/** The steps, one after the other. */
const step = z.discriminatedUnion("do", [...traffic, ...processFaults, ...redisFaults]);

/** Everything that a run of the harness does, but for the machine's timing. */
export const scheduleSchema = z.object({
  workers: z.number().int().min(1).max(8),
  concurrency: z.number().int().min(1).max(64),
  producers: z.number().int().min(1).max(4),
  /** One per key. */
  behaviours: z.array(behaviour).min(1),
  /** Deaths of first lives, counted from the start of the process. */
  doomed: z.array(death),
  steps: z.array(step),
});

export type Schedule = z.infer<typeof scheduleSchema>;
export type Step = z.infer<typeof step>;
export type Behaviour = z.infer<typeof behaviour>;
export type Death = z.infer<typeof death>;
export type Mutation = z.infer<typeof mutation>;
export type RedisFault = z.infer<(typeof redisFaults)[number]>;
export type ProcessFault = z.infer<(typeof processFaults)[number]>;
export type FaultKind = (RedisFault | ProcessFault)["do"];

export const behaviours = behaviour.options;
export const faultKinds: readonly FaultKind[] = [...processFaults, ...redisFaults].map(
  ({ shape }) => shape.do.value,
);
const redisFaultKinds: ReadonlySet<string> = new Set(redisFaults.map(({ shape }) => shape.do.value));
export const isRedisFaultKind = (kind: string): kind is RedisFault["do"] => redisFaultKinds.has(kind);
export const isRedisFault = (step: Step): step is RedisFault => isRedisFaultKind(step.do);
