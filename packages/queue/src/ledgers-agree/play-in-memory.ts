import type { Given, Ledger } from "../ledger.ts";
import { openMemoryLedger } from "../memory-ledger.ts";
import type { LedgerData } from "../memory-ledger/ledger-data.ts";
import { type Hands, playable, take } from "./playable-call.ts";
import { lookEverywhere, type RandomCall, type RandomEvent, times, workers } from "./random-calls.ts";

/**
 * A call with everything that its answer depends on apart from the ledger, or a change of the server's data between
 * calls.
 */
export type Step =
  | {
      readonly text: string;
      readonly now: number;
      readonly server: string;
      /** The number of jitter values drawn before the call. */
      readonly drawn: number;
      readonly on: (ledger: Ledger) => Promise<unknown>;
      /** True if it calls the ledger twice. */
      readonly isTwo: boolean;
    }
  | { readonly text: string; readonly data: "lost" | "saved" | "restored" };

/** The result of a call. Names of eras differ between ledgers, so only the start of a new era is compared. */
export interface Answer {
  readonly answer: unknown;
  readonly newEra: boolean;
}

/**
 * Plays calls in memory, and then reads the complete state. Returns the steps, to be played elsewhere, and the result
 * of each.
 */
export async function playInMemory(
  calls: readonly (RandomCall | RandomEvent)[],
): Promise<{ readonly steps: readonly Step[]; readonly answers: readonly (Answer | undefined)[] }> {
  const { world, ledger } = memoryWorld();
  let backup: LedgerData | undefined;
  const steps: Step[] = [];
  const answers: (Answer | undefined)[] = [];
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
  const hands: Hands = { claims: [], bells: [] };
  const heard = listenTo(ledger, ({ key, token }) => void hands.claims.unshift({ key, token }));
  for (const each of [...calls, ...lookEverywhere]) {
    if ("event" in each) {
      happen(each);
      continue;
    }
    const { now, servers, drawn, eras } = world;
    const call = playable(each, hands);
    steps.push({
      text: `at ${now} on ${servers}: ${call.text}`,
      now,
      server: `server${servers}`,
      drawn,
      on: call.on,
      isTwo: call.isTwo === true,
    });
    const answer = await call.on(ledger);
    take(hands, call, answer);
    await heard.caughtUp();
    answers.push({ answer: written(answer), newEra: world.eras > eras });
  }
  const data = ledger.backup();
  const left = { forgotten: forgottenIn(data), members: membersIn(data) };
  return { steps, answers: [...answers, heard.answer(), { answer: left, newEra: false }] };
}

/** The names (as in Redis) of data that expire, and their lifetimes, ms. */
function forgottenIn({ leaving, history, copies, lists }: LedgerData): Readonly<Record<string, number>> {
  const gone = [...leaving].flatMap(([key, after]) => [
    [`key:${key}`, after] as const,
    ...(history.has(key) ? [[`history:${key}`, after] as const] : []),
  ]);
  const left = { copy: copies, lists };
  const kept = Object.entries(left).flatMap(([what, of]) =>
    [...of].map(([key, { until }]) => [`${what}:${key}`, until] as const),
  );
  return Object.fromEntries([...gone, ...kept]);
}

/** The members of collections that are not empty, by their names in Redis: each must be removed at some time. */
function membersIn({ states, failing, offers, workers, shut, turns, queues }: LedgerData) {
  const { leased, paused, ...others } = states;
  const sets = { ...others, leases: leased, suspended: paused, failing, shut, offers: offers.standing };
  const lists: readonly (readonly [string, readonly string[]])[] = [
    ...Object.entries(sets).map(([name, { members }]) => [name, members] as const),
    ["offered", [...offers.by.keys()]],
    ["given", [...offers.given.keys()]],
    ["workers", [...workers.keys()]],
    ...Object.entries(turns).map(
      ([name, lanes]) => [`turns:${name}`, [...lanes].map((lane) => lane.slice(name.length + 1))] as const,
    ),
    ...[...queues].map(([name, { keys }]) => [`queue:${name}`, keys.members] as const),
  ];
  return Object.fromEntries(
    lists.filter(([, { length }]) => length > 0).map(([name, members]) => [name, members.toSorted()]),
  );
}

/** A ledger, and the inputs on which its answers depend apart from the calls. */
function memoryWorld() {
  const world = { now: 10_000_000, servers: 1, drawn: 0, eras: 0 };
  const ledger = openMemoryLedger({
    ...times,
    now: () => world.now,
    server: () => `server${world.servers}`,
    random: () => jitterAt(world.drawn++),
    onEra: () => {
      world.eras++;
    },
    age: () => 0,
  });
  return { world, ledger };
}

/** Records the keys that are assigned to workers; the record is the last answer. */
export function listenTo(ledger: Ledger, alsoTell: (given: Given) => void = () => undefined) {
  const heard = new Map<string, Given[]>(workers.map((worker) => [worker, []]));
  const all = [...heard].map(([worker, told]) =>
    ledger.listen(worker, (given) => {
      told.push(given);
      alsoTell(given);
    }),
  );
  return {
    caughtUp: () => Promise.all(all.map((each) => each.caughtUp())),
    answer: (): Answer => ({ answer: written([...heard]), newEra: false }),
    forget: () => heard.forEach((told) => void told.splice(0)),
    stop: () => all.forEach((each) => each.stop()),
  };
}

/** An answer after a round trip through JSON: without fields that are undefined. */
export const written = (answer: unknown): unknown => JSON.parse(JSON.stringify(answer ?? null));

const jitters = [0, 0.999_999, 0.5, 0.25, 0.123_456_789] as const;
export const jitterAt = (drawn: number): number => jitters[drawn % jitters.length] ?? 0;
