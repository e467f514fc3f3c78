import type { LeasedKey, Ledger } from "../../ledger/ledger.ts";
import { openMemoryLedger } from "../memory-ledger.ts";
import type { LedgerData } from "../rules/ledger-data.ts";
import { type EarlierAnswers, playable, collectAnswer } from "./playable-call.ts";
import { readEverything, type RandomCall, type RandomEvent, times, workers } from "./random-calls.ts";

/**
 * A call with everything that its answer depends on apart from the ledger, or a change of the server's data between
 * calls.
 */
export type PlayedStep =
  | {
      readonly text: string;
      readonly now: number;
      readonly server: string;
      /** The number of jitter values drawn before the call. */
      readonly drawn: number;
      readonly perform: (ledger: Ledger) => Promise<unknown>;
      /** True if it calls the ledger twice. */
      readonly callsTwice: boolean;
    }
  | { readonly text: string; readonly data: "lost" | "saved" | "restored" };

/** The result of a call. Names of incarnations differ between ledgers, so only the start of a new one is compared. */
export interface PlayedAnswer {
  readonly answer: unknown;
  readonly isNewIncarnation: boolean;
}

/** The steps of a sequence of calls and events, to be played elsewhere, and the result of each. */
interface PlayedSequence {
  readonly steps: readonly PlayedStep[];
  readonly answers: readonly (PlayedAnswer | undefined)[];
}

/** Plays calls in memory, and then reads the complete state. */
export async function playInMemory(calls: readonly (RandomCall | RandomEvent)[]): Promise<PlayedSequence> {
  const { world, ledger } = memoryWorld();
  let backup: LedgerData | undefined;
  const steps: PlayedStep[] = [];
  const answers: (PlayedAnswer | undefined)[] = [];
  const toData = (data: "lost" | "saved" | "restored"): void => {
    steps.push({ text: `data ${data}`, data });
    answers.push(undefined);
  };
  const happen = (happening: RandomEvent): void => {
    switch (happening.event) {
      case "clock":
        world.now = Math.max(1, world.now + happening.by);
        return;
      case "another server":
        world.servers++;
        return;
      case "everything lost":
        ledger.restore();
        toData("lost");
        return;
      case "backup":
        backup = ledger.backup();
        toData("saved");
        return;
      case "failover to the backup":
        world.servers++;
        if (!backup) return;
        ledger.restore(backup);
        toData("restored");
    }
  };
  const earlier: EarlierAnswers = { claims: [], jobs: [] };
  const received = recordAssignments(ledger, ({ key, token }) => void earlier.claims.unshift({ key, token }));
  for (const each of [...calls, ...readEverything]) {
    if ("event" in each) {
      happen(each);
      continue;
    }
    const { now, servers, drawn, incarnations } = world;
    const call = playable(each, earlier);
    steps.push({
      text: `at ${now} on ${servers}: ${call.text}`,
      now,
      server: `server${servers}`,
      drawn,
      perform: call.perform,
      callsTwice: call.callsTwice === true,
    });
    const answer = await call.perform(ledger);
    collectAnswer(earlier, call, answer);
    await received.caughtUp();
    answers.push({ answer: jsonRoundTrip(answer), isNewIncarnation: world.incarnations > incarnations });
  }
  const data = ledger.backup();
  const left = { forgotten: expiringIn(data), members: membersIn(data) };
  return { steps, answers: [...answers, received.answer(), { answer: left, isNewIncarnation: false }] };
}

/** The names (as in Redis) of data that expire, and their lifetimes, ms. */
function expiringIn({
  expiring,
  history,
  cachedObjects,
  cachedLists,
}: LedgerData): Readonly<Record<string, number>> {
  const gone = [...expiring].flatMap(([key, after]) => [
    [`key:${key}`, after] as const,
    ...(history.has(key) ? [[`history:${key}`, after] as const] : []),
  ]);
  const left = { object: cachedObjects, lists: cachedLists };
  const kept = Object.entries(left).flatMap(([what, of]) =>
    [...of].map(([key, { until }]) => [`${what}:${key}`, until] as const),
  );
  return Object.fromEntries([...gone, ...kept]);
}

/** The members of collections that are not empty, by their names in Redis: each must be removed at some time. */
function membersIn({ states, failing, advertisedSlots, workers, throttled, turns, queues }: LedgerData) {
  const { leased, ...others } = states;
  const sets = { ...others, leases: leased, failing, throttled, advertised: advertisedSlots.byExpiry };
  const lists: readonly (readonly [string, readonly string[]])[] = [
    ...Object.entries(sets).map(([name, { members }]) => [name, members] as const),
    ["advertisements", [...advertisedSlots.advertisements.keys()]],
    ["assigned", [...advertisedSlots.assignments.keys()]],
    ["workers", [...workers.keys()]],
    ...Object.entries(turns).map(
      ([name, flows]) => [`flows:${name}`, [...flows].map((flow) => flow.slice(name.length + 1))] as const,
    ),
    ...[...queues].map(([name, { keys }]) => [`queue:${name}`, keys.members] as const),
  ];
  return Object.fromEntries(
    lists.filter(([, { length }]) => length > 0).map(([name, members]) => [name, members.toSorted()]),
  );
}

/** A ledger, and the inputs on which its answers depend apart from the calls. */
function memoryWorld() {
  const world = { now: 10_000_000, servers: 1, drawn: 0, incarnations: 0 };
  const ledger = openMemoryLedger({
    ...times,
    now: () => world.now,
    server: () => `server${world.servers}`,
    random: () => jitterAt(world.drawn++),
    onIncarnation: () => {
      world.incarnations++;
    },
    expiryNow: () => 0,
  });
  return { world, ledger };
}

/** Records the keys that are assigned to workers; the record is the last answer. */
export function recordAssignments(
  ledger: Ledger,
  onAssignment: (assigned: LeasedKey) => void = () => undefined,
) {
  const received = new Map<string, LeasedKey[]>(workers.map((worker) => [worker, []]));
  const all = [...received].map(([worker, assignments]) =>
    ledger.receiveAssignments(worker, (assignment) => {
      assignments.push(assignment);
      onAssignment(assignment);
    }),
  );
  return {
    caughtUp: () => Promise.all(all.map((each) => each.caughtUp())),
    answer: (): PlayedAnswer => ({ answer: jsonRoundTrip([...received]), isNewIncarnation: false }),
    forget: () => received.forEach((assignments) => void assignments.splice(0)),
    stop: () => all.forEach((each) => each.stop()),
  };
}

/** An answer after a round trip through JSON: without fields that are undefined. */
export const jsonRoundTrip = (answer: unknown): unknown => JSON.parse(JSON.stringify(answer ?? null));

const jitters = [0, 0.999_999, 0.5, 0.25, 0.123_456_789] as const;
export const jitterAt = (drawn: number): number => jitters[drawn % jitters.length] ?? 0;
