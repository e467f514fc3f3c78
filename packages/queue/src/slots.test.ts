import { objectKey, type ObjectKey, silentLog } from "@drover/controller";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { RunFailedError } from "./bells.ts";
import { openLedgerWorkQueue } from "./ledger-work-queue.ts";
import type { Given, Ledger } from "./ledger.ts";
import { memoryBells } from "./memory-bells.ts";
import { openMemoryLedger } from "./memory-ledger.ts";
import { wakeOf } from "./work-queue.contract.ts";
import type { Arrival, QueueWorker, Run, Verdict, WorkQueue } from "./work-queue.ts";

/** Bells that a test rings by hand, and a ledger whose words to workers it may keep back. */
let ring: (key: ObjectKey) => Promise<void>;
let deaf: boolean;
let told: Given[];
let tell: (given: Given) => void;
let shown: RunFailedError[];
let ledger: Ledger;
let queue: WorkQueue;
const workers: QueueWorker[] = [];
const [first, second, third] = ["first", "second", "third"].map((name) => objectKey({ name })) as [
  ObjectKey,
  ObjectKey,
  ObjectKey,
];
const done: Verdict = { kind: "done" };
const until = (check: () => void | Promise<void>): Promise<void> => vi.waitFor(check, { timeout: 20_000 });

beforeEach(() => {
  [deaf, told, shown] = [false, [], []];
  queue = openLedgerWorkQueue({
    controller: "buckets",
    openLedger: (times, onEra) => ({
      ledger: (ledger = heardByHand(openMemoryLedger({ ...times, onEra }))),
      async *keys() {},
    }),
    bells: {
      ...memoryBells(),
      add: () => Promise.resolve(),
      tell: (failed) => Promise.resolve(void shown.push(failed)),
      listen: (answer) => {
        ring = answer;
        return { stop: () => Promise.resolve() };
      },
    },
    log: silentLog,
    times: { lease: 60_000, renewal: 20, settling: 40 },
    onIncarnation: undefined,
    ping: () => Promise.resolve(),
  });
});
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.drain(0)));
  await queue.close();
});

const heardByHand = (real: Ledger): Ledger => ({
  ...real,
  listen: (worker, given) => {
    tell = given;
    return real.listen(worker, (each) => {
      told.push(each);
      if (!deaf) given(each);
    });
  },
});

/** A worker whose slots are offered, the keys that it ran, and how those came which it has settled. */
async function work(
  concurrency: number,
  handler: (run: Run) => Promise<Verdict> = () => Promise.resolve(done),
): Promise<{ readonly worker: QueueWorker; readonly ran: ObjectKey[]; readonly came: Arrival[] }> {
  const [ran, came]: [ObjectKey[], Arrival[]] = [[], []];
  const offered = vi.spyOn(ledger, "offer");
  const worker = queue.work(
    (run) => {
      ran.push(run.key);
      return handler(run);
    },
    { concurrency, timeout: 60_000, onSettled: (_run, _verdict, _duration, by) => void came.push(by) },
  );
  workers.push(worker);
  await until(async () => {
    expect(offered.mock.settledResults.length).toBeGreaterThan(0);
    expect((await ledger.ring()).next).toBeUndefined(); // it has settled
  });
  return { worker, ran, came };
}

it("runs what a free slot is given, though no bell is heard", async () => {
  const { ran, came } = await work(1);
  await queue.wake([wakeOf(first)]);
  await until(() => expect(ran).toEqual([first]));
  await queue.wake([wakeOf(second)]);
  await until(() => expect(ran).toEqual([first, second]));
  await until(() => expect(came).toEqual(["given", "given"]));
});

it("offers its slot with every verdict, however many keys it was handed before", async () => {
  const { ran } = await work(1);
  const settle = vi.spyOn(ledger, "settle");
  const many = Array.from({ length: 50 }, (_, i) => objectKey({ name: `n${i}` }));
  await queue.wake(many.map(wakeOf));
  await until(() => expect(ran).toHaveLength(many.length));
  await until(() => expect(settle).toHaveBeenCalledTimes(many.length));
  expect(settle.mock.calls.filter(([, , , , next]) => next?.offeredBy === undefined)).toEqual([]);
});

it("hears of what got lost on the way when it offers the slot again", async () => {
  deaf = true;
  const { ran } = await work(1);
  await queue.wake([wakeOf(first)]);
  await until(() => expect(ran).toEqual([first]));
  expect(told).toHaveLength(1);
});

it("runs once what it is told of twice", async () => {
  const { ran } = await work(2);
  await queue.wake([wakeOf(first)]);
  await until(() => expect(ran).toEqual([first]));
  tell(told[0]!);
  await queue.wake([wakeOf(second)]);
  await until(() => expect(ran).toEqual([first, second]));
  await until(async () => expect(await queue.stats(1_000)).toMatchObject({ due: 0, running: 0 }));
});

it("does not run what it was given so long ago that it may be another's by now", async () => {
  const { ran } = await work(1);
  const [slot = ""] = vi.mocked(ledger).offer.mock.lastCall?.[0].tokens ?? [];
  const claim = { fails: 0, reasons: [], class: "change", versions: {} } as const;
  tell({ slot, token: `${slot}:1:1`, key: second, claim, askedAt: performance.now() - 60_000 });
  await queue.wake([wakeOf(first)]);
  await until(() => expect(ran).toEqual([first]));
});

it("gives back what a slot is given by an offer that came late, and goes on with its run", async () => {
  const door = Promise.withResolvers<Verdict>();
  const { ran } = await work(2, ({ key }) => (key === first ? door.promise : Promise.resolve(done)));
  await queue.wake([wakeOf(first)]);
  await until(() => expect(ran).toEqual([first]));
  const [{ slot, token }] = told as [Given];
  const claimed = await ledger.claim(second, `${slot}:2:2`);
  if ("refused" in claimed) throw new Error(claimed.refused);
  tell({ slot, token: `${slot}:2:2`, key: second, askedAt: performance.now(), claim: claimed.claimed });
  await until(() => expect(ran).toEqual([first, second]));
  expect((await ledger.renew([{ key: first, token }])).lost).toEqual([]);
  door.resolve(done);
  await until(async () => expect(await queue.stats(1_000)).toMatchObject({ due: 0, running: 0 }));
});

it("runs no more at once than it has slots, whoever brings them", async () => {
  let running = 0;
  let most = 0;
  const { ran } = await work(2, async () => {
    most = Math.max(most, ++running);
    await nextTurn();
    running--;
    return done;
  });
  const keys = Array.from({ length: 100 }, (_, i) => objectKey({ namespace: "a", name: `n${i}` }));
  await Promise.all(
    keys.map(async (key) => {
      await queue.wake([wakeOf(key)]);
      await ring(key).catch(() => undefined);
    }),
  );
  await until(() => expect(new Set(ran).size).toBe(100));
  expect(most).toBe(2);
});

it("answers a bell with a slot that was offered, and with none that was given another key", async () => {
  deaf = true;
  const door = Promise.withResolvers<Verdict>();
  const { ran } = await work(1, ({ key }) => (key === second ? door.promise : Promise.resolve(done)));
  await queue.wake([wakeOf(first), wakeOf(second)]); // one is given, and not heard of; there is no room for the other's bell
  const bell = ring(second);
  await until(() => expect(ran).toContain(second));
  expect(ran).toEqual([first, second]);
  door.resolve(done);
  await bell;
});

it("lets a bell take the slot whose key a server that took over knows nothing of", async () => {
  await work(1);
  const claim = vi.spyOn(ledger, "claim").mockResolvedValueOnce({ refused: "slot taken" });
  await ring(first);
  const [[, taken], [, token] = []] = claim.mock.calls as [[unknown, string], [unknown, string]?];
  expect(token).toBe(taken);
});

it("lets a bell wait while all slots are busy", async () => {
  const door = Promise.withResolvers<Verdict>();
  const { ran } = await work(1, ({ key }) => (key === first ? door.promise : Promise.resolve(done)));
  await queue.wake([wakeOf(first)]);
  await until(() => expect(ran).toEqual([first]));
  await queue.wake([wakeOf(third)]);
  expect((await ledger.ring()).bells).toMatchObject([{ key: third }]); // a ringer has one bell out
  const bell = ring(third);
  for (let turn = 0; turn < 10; turn++) await nextTurn();
  expect(ran).toEqual([first]);
  door.resolve(done);
  await until(() => expect(ran).toEqual([first, third]));
  await bell;
});

it("lets a bell wait for what a slot was given before the verdict of its last run was answered", async () => {
  const door = Promise.withResolvers<Verdict>();
  const answered = Promise.withResolvers<{ kind: "stale" }>();
  const { ran } = await work(1, () => (ran.length === 2 ? door.promise : Promise.resolve(done)));
  // The answer is lost: the verdict is sent again, and refused, because it was taken the first time.
  const real = { ...ledger };
  vi.spyOn(ledger, "settle").mockImplementationOnce(async (...verdict) => {
    await real.settle(...verdict);
    await queue.wake([wakeOf(second)]);
    return answered.promise;
  });
  await queue.wake([wakeOf(first)]);
  await until(() => expect(ran).toEqual([first, second]));
  await queue.wake([wakeOf(third)]);
  expect((await ledger.ring()).bells).toMatchObject([{ key: third }]);
  const bell = ring(third);
  answered.resolve({ kind: "stale" });
  for (let turn = 0; turn < 10; turn++) await nextTurn();
  expect(ran).toEqual([first, second]);
  door.resolve(done);
  await until(() => expect(ran).toEqual([first, second, third]));
  await bell;
});

it("offers no more than 32 slots, however many there are", async () => {
  const offered = vi.spyOn(ledger, "offer");
  const next = vi.spyOn(ledger, "settle");
  let door = Promise.withResolvers<Verdict>();
  const { ran } = await work(100, () => door.promise);
  const keys = Array.from({ length: 80 }, (_, i) => objectKey({ namespace: "a", name: `n${i}` }));
  await queue.wake(keys.map(wakeOf));
  await until(() => expect(ran).toHaveLength(80)); // the others with the next renewals
  door.resolve(done);
  await until(async () => expect(await queue.stats(1_000)).toMatchObject({ due: 0, running: 0 }));
  const renewed = offered.mock.calls.length;
  await until(() => expect(offered.mock.calls.length).toBeGreaterThan(renewed));
  expect(Math.max(...offered.mock.calls.map(([{ tokens }]) => tokens.length))).toBe(32);
  expect(next.mock.calls.some(([, , , , taker]) => taker && !taker.offeredBy)).toBe(true);
  // Few are offered while most are busy: then each verdict offers its slot again.
  door = Promise.withResolvers<Verdict>();
  next.mockClear();
  const more = Array.from({ length: 95 }, (_, i) => objectKey({ namespace: "b", name: `n${i}` }));
  await queue.wake(more.map(wakeOf));
  await until(() => expect(ran).toHaveLength(175));
  door.resolve(done);
  await until(() => expect(next).toHaveBeenCalled());
  expect(next.mock.calls[0]?.[4]?.offeredBy).toBeDefined();
});

it("shows on dashboards that a run failed which no bell had asked for", async () => {
  await work(1, () => Promise.resolve({ kind: "terminal", error: "no" }));
  await queue.wake([wakeOf(first)]);
  await until(() => expect(shown).toMatchObject([{ key: first, message: "no" }]));
});

it("gives back what was given to a slot that it does not know", async () => {
  const { ran } = await work(1);
  const outcome = await ledger.claim(third, "of a life before");
  if ("refused" in outcome) throw new Error(outcome.refused);
  tell({
    key: third,
    slot: "of a life before",
    token: "of a life before",
    askedAt: 0,
    claim: outcome.claimed,
  });
  await until(() => expect(ran).toEqual([third]));
});
