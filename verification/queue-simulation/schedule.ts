import fc from "fast-check";
import type { RunOutcome, WakeClass } from "../../packages/queue/src/work-queue/work-queue.ts";
import type { Ending } from "./simulated-channels.ts";

const callFaults = ["dies before", "dies after", "answer lost", "late", "refused", "demoted"] as const;
const serverFaults = [
  "lose jobs",
  "double jobs",
  "lose messages",
  "restart",
  "snapshot",
  "fail over",
  "flush",
] as const;
const processFaults = ["freeze", "thaw", "cut", "deny", "mend", "mend", "kill"] as const;

/**
 * A fault of one call to Redis: the caller dies before it or after it; the answer is lost with its connection, and
 * the call is sent again; the answer comes late, by part of a lease; Redis refuses it; or the server was demoted, and
 * its successor takes it.
 */
export type Fault = "none" | (typeof callFaults)[number];

/** One step of a schedule. Actors are numbers; one that cannot do the step skips it. */
export type Command =
  | { readonly do: "change"; readonly key: number; readonly recreate: boolean }
  | { readonly do: "change part"; readonly key: number; readonly part: number }
  | { readonly do: "deliver"; readonly producer: number; readonly class: WakeClass; readonly fault: Fault }
  | { readonly do: "list"; readonly producer: number }
  | { readonly do: "take" | "receive"; readonly worker: number; readonly fault: Fault }
  | { readonly do: "finish"; readonly worker: number; readonly outcome: RunOutcome; readonly fault: Fault }
  | Disturbance
  | { readonly do: "advance"; readonly ms: number }
  | { readonly do: "step clock"; readonly ms: number }
  | { readonly do: (typeof serverFaults)[number] }
  | { readonly do: "pause" | "resume"; readonly scope: number }
  | { readonly do: "force"; readonly key: number }
  | { readonly do: "roll out"; readonly worker: number; readonly terms: Terms };

/**
 * A fault of a process. `cut`: its calls reach Redis only once that is mended, while it goes on. `deny`: Redis refuses
 * them till then.
 */
export type Disturbance =
  | { readonly do: "trouble"; readonly worker: number; readonly fault: Fault }
  | { readonly do: "disconnect"; readonly worker: number; readonly how: Ending }
  | { readonly do: "late advertisement" | (typeof processFaults)[number]; readonly worker: number };

/** The registration of a worker, and what its version of the function asks for. */
export interface Terms {
  readonly slots: number;
  readonly version: number;
  readonly attempts?: number;
  readonly runs?: { readonly perSecond: number; readonly burst: number };
}

export type Schedule = readonly Command[];

/** The times that a simulated queue runs with, ms. */
export const times = { lease: 600, renewal: 100, recoveryWindow: 300, first: 100, longest: 800 };
export const workers = 2;
export const producers = 2;
export const keys = 4;
/** Objects of another kind that each key's object has. */
export const parts = 2;
/** Account that some runs count against. */
export const account = "cloud";

const trouble = fc.constantFrom(...callFaults);
const fault: fc.Arbitrary<Fault> = fc.oneof(
  { weight: 8, arbitrary: fc.constant("none" as const) },
  { weight: 1, arbitrary: trouble },
);
const worker = fc.nat(workers - 1);
const producer = fc.nat(producers - 1);
const key = fc.nat(keys - 1);
const part = fc.nat(parts - 1);
/** Milliseconds that an outcome asks for. */
export const longestWait = 2_000;
const wait = fc.constantFrom(0, 1, 50, 250, longestWait);

const outcome: fc.Arbitrary<RunOutcome> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ kind: "done" } as const) },
  { weight: 2, arbitrary: wait.map((after) => ({ kind: "done", after }) as const) },
  { weight: 1, arbitrary: fc.constant({ kind: "done", account } as const) },
  { weight: 1, arbitrary: wait.map((after) => ({ kind: "wait", after }) as const) },
  { weight: 4, arbitrary: fc.constant({ kind: "retry", error: "no" } as const) },
  { weight: 1, arbitrary: wait.map((after) => ({ kind: "retry", error: "later", after }) as const) },
  { weight: 1, arbitrary: wait.map((after) => ({ kind: "throttled", account, after: after + 1 }) as const) },
  { weight: 2, arbitrary: fc.constant({ kind: "conflict" } as const) },
  { weight: 1, arbitrary: fc.constant({ kind: "terminal", error: "never" } as const) },
  { weight: 1, arbitrary: fc.constant({ kind: "gone" } as const) },
  { weight: 1, arbitrary: fc.constant({ kind: "interrupted" } as const) },
);

const terms: fc.Arbitrary<Terms> = fc.record(
  {
    // More than a worker advertises at once, too.
    slots: fc.constantFrom(0, 1, 1, 2, 2, 3, 3, 34),
    version: fc.nat(2),
    attempts: fc.constant(2),
    runs: fc.constant({ perSecond: 50, burst: 2 }),
  },
  { requiredKeys: ["slots", "version"] },
);
const wakeClass = fc.constantFrom<WakeClass>("change", "change", "listing", "resync");

/** A command that is drawn with a weight; its other fields are drawn, too. */
const drawn = <Do extends Command["do"], Fields extends object>(
  weight: number,
  names: readonly Do[],
  fields: fc.Arbitrary<Fields>,
) => ({
  weight,
  arbitrary: fc.tuple(fc.constantFrom(...names), fields).map(([name, others]) => ({ do: name, ...others })),
});
const command: fc.Arbitrary<Command> = fc.oneof(
  drawn(10, ["change"], fc.record({ key, recreate: fc.nat(9).map((n) => n === 0) })),
  drawn(6, ["change part"], fc.record({ key, part })),
  drawn(10, ["deliver"], fc.record({ producer, class: wakeClass, fault })),
  drawn(2, ["list"], fc.record({ producer })),
  drawn(8, ["take"], fc.record({ worker, fault })),
  drawn(10, ["receive"], fc.record({ worker, fault })),
  drawn(4, ["trouble"], fc.record({ worker, fault: trouble })),
  drawn(14, ["finish"], fc.record({ worker, outcome, fault })),
  drawn(2, ["late advertisement"], fc.record({ worker })),
  drawn(2, ["disconnect"], fc.record({ worker, how: fc.constantFrom<Ending>("breaks", "ends", "vanishes") })),
  drawn(3, processFaults, fc.record({ worker })),
  drawn(14, ["advance"], fc.record({ ms: fc.constantFrom(1, 10, 60, 150, 350, 700, 2_500) })),
  drawn(1, ["step clock"], fc.record({ ms: fc.constantFrom(-5_000, -500, 50) })),
  drawn(4, serverFaults, fc.constant({})),
  drawn(2, ["pause", "resume"], fc.record({ scope: fc.nat(2) })),
  drawn(1, ["force"], fc.record({ key })),
  drawn(2, ["roll out"], fc.record({ worker, terms })),
);

/** A change from one end to the other: a cached object is used only after two of a key in a row. */
const whole: fc.Arbitrary<Schedule> = fc
  .record({ key: fc.nat(1), worker, producer, outcome, part })
  .map(({ key, worker, producer, outcome, part }) => [
    { do: "change", key, recreate: false },
    { do: "deliver", producer, class: "change", fault: "none" },
    { do: "change part", key, part },
    { do: "deliver", producer: key % producers, class: "change", fault: "none" },
    { do: "receive", worker, fault: "none" },
    { do: "take", worker, fault: "none" },
    { do: "finish", worker, outcome, fault: "none" },
  ]);

const advance = (ms: number) => ({ do: "advance", ms }) as const;
const begin = (worker: number, fault: Fault) =>
  [
    { do: "receive", worker, fault },
    { do: "take", worker, fault },
  ] as const;

/** How long a run's worker is away: by the times of leases and of servers that settle. */
const absences = [[350], [320, 60], [250, 150], [610], [610, 60], [560, 60, 60], [700, 150]] as const;

/** A run whose worker is cut off or stands still, and whose key another one may take before it is back. */
const takeover: fc.Arbitrary<Schedule> = fc
  .record({
    key,
    producer,
    outcome,
    late: fc.constantFrom("claim" as const, "renewal" as const, undefined),
    by: fc.constantFrom("freeze" as const, "cut" as const, "deny" as const),
    loss: fc.constantFrom("fail over" as const, "flush" as const, "restart" as const, undefined),
    absence: fc.constantFrom(...absences),
  })
  .map(({ key, producer, outcome, late, by, loss, absence }): Schedule => {
    const lateRenewal = [{ do: "trouble", worker: 0, fault: "late" } as const, advance(60), advance(450)];
    return [
      { do: "change", key, recreate: false },
      { do: "deliver", producer, class: "change", fault: "none" },
      ...begin(0, late === "claim" ? "late" : "none"),
      ...(late === "claim" ? [advance(450)] : late === "renewal" ? lateRenewal : []),
      { do: by, worker: 0 },
      ...(loss === undefined ? [] : [{ do: loss } as const]),
      { do: "change", key, recreate: false },
      { do: "deliver", producer: 0, class: "change", fault: "none" },
      { do: "deliver", producer: 1, class: "change", fault: "none" },
      ...absence.flatMap((ms) => [advance(ms), ...begin(1, "none")]),
      { do: by === "freeze" ? "thaw" : "mend", worker: 0 },
      { do: "finish", worker: 0, outcome, fault: "none" },
    ];
  });

/** An outcome whose answer is late, while the key that was assigned to the next slot has arrived. */
const lateOutcome: fc.Arbitrary<Schedule> = fc
  .record({ key, other: key, worker, outcome })
  .map(({ key, other, worker, outcome }): Schedule => [
    { do: "change", key, recreate: false },
    { do: "deliver", producer: 0, class: "change", fault: "none" },
    { do: "deliver", producer: 1, class: "change", fault: "none" },
    ...begin(worker, "none"),
    { do: "finish", worker, outcome, fault: "late" },
    { do: "change", key: other, recreate: false },
    { do: "deliver", producer: 0, class: "change", fault: "none" },
    { do: "deliver", producer: 1, class: "change", fault: "none" },
    ...begin(worker, "none"),
    advance(450),
  ]);

const piece: fc.Arbitrary<Schedule> = fc.oneof(
  { weight: 18, arbitrary: command.map((one) => [one]) },
  { weight: 2, arbitrary: whole },
  { weight: 1, arbitrary: takeover },
  { weight: 1, arbitrary: lateOutcome },
);

export const schedule: fc.Arbitrary<Schedule> = fc
  .array(piece, { minLength: 8, maxLength: 36, size: "max" })
  .map((parts) => parts.flat());

/** True if a process or Redis dies in this schedule. */
export const crashes = (of: Schedule): boolean =>
  of.some(
    (each) =>
      ("fault" in each && each.fault !== "none") ||
      ["kill", "restart", "fail over", "flush"].includes(each.do),
  );
