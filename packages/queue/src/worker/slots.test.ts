import { objectKey, type ObjectKey } from "@drover/controller";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { RunFailedError } from "./job-queue.ts";
import type { LeasedKey, Ledger } from "../ledger/ledger.ts";
import { openMemoryJobQueue } from "./memory-job-queue.fixture.ts";
import { openMemoryWorkQueue } from "./memory-work-queue.fixture.ts";
import { wakeOf } from "../work-queue/work-queue.contract.ts";
import type { Arrival, QueueWorker, Run, RunOutcome, WorkQueue } from "../work-queue/work-queue.ts";

/** Jobs that a test processes by hand, and a ledger whose assignments it may drop. */
let processJob: (key: ObjectKey) => Promise<void>;
let dropsAssignments: boolean;
let assignments: LeasedKey[];
let deliver: (assignment: LeasedKey) => void;
let shown: RunFailedError[];
let ledger: Ledger;
let queue: WorkQueue;
const workers: QueueWorker[] = [];
const first = objectKey({ name: "first" });
const second = objectKey({ name: "second" });
const third = objectKey({ name: "third" });
const done: RunOutcome = { kind: "done" };
const until = (check: () => void | Promise<void>): Promise<void> => vi.waitFor(check, { timeout: 20_000 });

beforeEach(() => {
  [dropsAssignments, assignments, shown] = [false, [], []];
  queue = openMemoryWorkQueue({
    intercept: (memory) => (ledger = interceptAssignments(memory)),
    jobQueue: {
      ...openMemoryJobQueue(),
      add: () => Promise.resolve(),
      addFailed: (failed) => Promise.resolve(void shown.push(failed)),
      consume: (process) => {
        processJob = process;
        return { stop: () => Promise.resolve() };
      },
    },
    times: { lease: 60_000, renewal: 20, recoveryWindow: 40 },
  });
});
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.drain(0)));
  await queue.close();
});

const interceptAssignments = (real: Ledger): Ledger => ({
  ...real,
  receiveAssignments: (worker, onAssignment) => {
    deliver = onAssignment;
    return real.receiveAssignments(worker, (each) => {
      assignments.push(each);
      if (!dropsAssignments) onAssignment(each);
    });
  },
});

/** A worker whose slots are advertised, the keys that it ran, and how those came which it has settled. */
async function work(
  concurrency: number,
  handler: (run: Run) => Promise<RunOutcome> = () => Promise.resolve(done),
): Promise<{ readonly worker: QueueWorker; readonly ran: ObjectKey[]; readonly came: Arrival[] }> {
  const [ran, came]: [ObjectKey[], Arrival[]] = [[], []];
  const advertise = vi.spyOn(ledger, "advertise");
  const worker = queue.work(
    (run) => {
      ran.push(run.key);
      return handler(run);
    },
    { concurrency, timeout: 60_000, onSettled: (_run, _outcome, _duration, by) => void came.push(by) },
  );
  workers.push(worker);
  await until(async () => {
    expect(advertise.mock.settledResults.length).toBeGreaterThan(0);
    expect((await ledger.dispatch()).next).toBeUndefined(); // its recovery window is over
  });
  return { worker, ran, came };
}

it("runs the key that an idle slot is assigned, though no job arrives", async () => {
  const { ran, came } = await work(1);
  await queue.wake([wakeOf(first)]);
  await until(() => expect(ran).toEqual([first]));
  await queue.wake([wakeOf(second)]);
  await until(() => expect(ran).toEqual([first, second]));
  await until(() => expect(came).toEqual(["assigned", "assigned"]));
});

it("advertises its slot with every outcome, however many keys were chained before", async () => {
  const { ran } = await work(1);
  const settle = vi.spyOn(ledger, "settle");
  const many = Array.from({ length: 50 }, (_, i) => objectKey({ name: `n${i}` }));
  await queue.wake(many.map(wakeOf));
  await until(() => expect(ran).toHaveLength(many.length));
  // On a slow machine a lease may end, and its key run again: every run has one outcome.
  await until(() => expect(settle).toHaveBeenCalledTimes(ran.length));
  expect(settle.mock.calls.filter(([, , , , next]) => next?.worker === undefined)).toEqual([]);
});

it("hears of what got lost on the way when it advertises the slot again", async () => {
  dropsAssignments = true;
  const { ran } = await work(1);
  await queue.wake([wakeOf(first)]);
  await until(() => expect(ran).toEqual([first]));
  expect(assignments).toHaveLength(1);
});

it("runs once what it is told of twice", async () => {
  const { ran } = await work(2);
  await queue.wake([wakeOf(first)]);
  await until(() => expect(ran).toEqual([first]));
  deliver(assignments[0]!);
  await queue.wake([wakeOf(second)]);
  await until(() => expect(ran).toEqual([first, second]));
  await until(async () => expect(await queue.stats(1_000)).toMatchObject({ due: 0, running: 0 }));
});

it("does not run a key that it was assigned so long ago that it may be another's by now", async () => {
  const { ran } = await work(1);
  const [slot = ""] = vi.mocked(ledger).advertise.mock.lastCall?.[0].tokens ?? [];
  const claim = { fails: 0, reasons: [], class: "change", versions: {} } as const;
  deliver({
    slot,
    token: `${slot}:1:1`,
    key: second,
    claim,
    askedAt: performance.now() - 60_000,
    arrival: "assigned",
  });
  await queue.wake([wakeOf(first)]);
  await until(() => expect(ran).toEqual([first]));
});

it("gives back a key that its slot is assigned while the refusal of a claim is on its way", async () => {
  const { ran } = await work(1);
  const [idle] = vi.mocked(ledger).advertise.mock.lastCall ?? [];
  const answer = Promise.withResolvers<undefined>();
  const real = { ...ledger };
  const claimed = vi.spyOn(ledger, "claim").mockImplementationOnce(async (...args) => {
    const refused = await real.claim(...args);
    await answer.promise;
    return refused;
  });
  await ledger.pause({ kind: "object", key: first }, "test");
  const job = processJob(first);
  await until(() => expect(claimed).toHaveBeenCalled());
  if (idle) await ledger.advertise(idle); // comes late
  await queue.wake([wakeOf(second)]);
  await until(() => expect(assignments).toHaveLength(1));
  answer.resolve(undefined);
  await job;
  await until(() => expect(ran).toEqual([second]));
});

it("gives back the key that a slot is assigned by an advertisement that came late, and goes on with its run", async () => {
  const door = Promise.withResolvers<RunOutcome>();
  const { ran } = await work(2, ({ key }) => (key === first ? door.promise : Promise.resolve(done)));
  await queue.wake([wakeOf(first)]);
  await until(() => expect(ran).toEqual([first]));
  const [{ slot, token }] = assignments as [LeasedKey];
  const claimed = await ledger.claim(second, `${slot}:2:2`);
  if ("refused" in claimed) throw new Error(claimed.refused);
  deliver({ ...claimed.claimed, slot, askedAt: performance.now() });
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
      await processJob(key).catch(() => undefined);
    }),
  );
  await until(() => expect(new Set(ran).size).toBe(100));
  expect(most).toBe(2);
});

it("claims for a job with a slot that was advertised, and with none that was assigned another key", async () => {
  dropsAssignments = true;
  const door = Promise.withResolvers<RunOutcome>();
  const { ran } = await work(1, ({ key }) => (key === second ? door.promise : Promise.resolve(done)));
  await queue.wake([wakeOf(first), wakeOf(second)]); // one is assigned, and not received; there is no room for the other's job
  const job = processJob(second);
  await until(() => expect(ran).toContain(second));
  expect(ran).toEqual([first, second]);
  door.resolve(done);
  await job;
});

it("lets a job take the slot whose key a server that took over knows nothing of", async () => {
  await work(1);
  const claim = vi.spyOn(ledger, "claim").mockResolvedValueOnce({ refused: "slot taken" });
  await processJob(first);
  const [[, taken], [, token] = []] = claim.mock.calls as [[unknown, string], [unknown, string]?];
  expect(token).toBe(taken);
});

it("lets a job wait while all slots are busy", async () => {
  const door = Promise.withResolvers<RunOutcome>();
  const { ran } = await work(1, ({ key }) => (key === first ? door.promise : Promise.resolve(done)));
  await queue.wake([wakeOf(first)]);
  await until(() => expect(ran).toEqual([first]));
  await queue.wake([wakeOf(third)]);
  expect((await ledger.dispatch()).jobs).toMatchObject([{ key: third }]); // a dispatcher has one job out
  const job = processJob(third);
  for (let turn = 0; turn < 10; turn++) await nextTurn();
  expect(ran).toEqual([first]);
  door.resolve(done);
  await until(() => expect(ran).toEqual([first, third]));
  await job;
});

it("lets a job wait for the key that a slot was assigned before the outcome of its last run was answered", async () => {
  const door = Promise.withResolvers<RunOutcome>();
  const answered = Promise.withResolvers<{ kind: "stale" }>();
  const { ran } = await work(1, () => (ran.length === 2 ? door.promise : Promise.resolve(done)));
  // The answer is lost: the outcome is sent again, and refused, because it was taken the first time.
  const real = { ...ledger };
  vi.spyOn(ledger, "settle").mockImplementationOnce(async (...outcome) => {
    await real.settle(...outcome);
    await queue.wake([wakeOf(second)]);
    return answered.promise;
  });
  await queue.wake([wakeOf(first)]);
  await until(() => expect(ran).toEqual([first, second]));
  await queue.wake([wakeOf(third)]);
  expect((await ledger.dispatch()).jobs).toMatchObject([{ key: third }]);
  const job = processJob(third);
  answered.resolve({ kind: "stale" });
  for (let turn = 0; turn < 10; turn++) await nextTurn();
  expect(ran).toEqual([first, second]);
  door.resolve(done);
  await until(() => expect(ran).toEqual([first, second, third]));
  await job;
});

it("advertises no more than 32 slots, however many there are", async () => {
  const advertise = vi.spyOn(ledger, "advertise");
  const next = vi.spyOn(ledger, "settle");
  let door = Promise.withResolvers<RunOutcome>();
  const { ran } = await work(100, () => door.promise);
  const keys = Array.from({ length: 80 }, (_, i) => objectKey({ namespace: "a", name: `n${i}` }));
  await queue.wake(keys.map(wakeOf));
  await until(() => expect(ran).toHaveLength(80)); // the others with the next renewals
  door.resolve(done);
  await until(async () => expect(await queue.stats(1_000)).toMatchObject({ due: 0, running: 0 }));
  const renewed = advertise.mock.calls.length;
  await until(() => expect(advertise.mock.calls.length).toBeGreaterThan(renewed));
  expect(Math.max(...advertise.mock.calls.map(([{ tokens }]) => tokens.length))).toBe(32);
  expect(next.mock.calls.some(([, , , , request]) => request && request.worker === undefined)).toBe(true);
  // Few are advertised while most are busy: then each outcome advertises its slot again.
  door = Promise.withResolvers<RunOutcome>();
  next.mockClear();
  const more = Array.from({ length: 95 }, (_, i) => objectKey({ namespace: "b", name: `n${i}` }));
  await queue.wake(more.map(wakeOf));
  await until(() => expect(ran).toHaveLength(175));
  door.resolve(done);
  await until(() => expect(next).toHaveBeenCalled());
  expect(next.mock.calls[0]?.[4]?.worker).toBeDefined();
});

it("shows on dashboards that a run failed which no job had asked for", async () => {
  await work(1, () => Promise.resolve({ kind: "terminal", error: "no" }));
  await queue.wake([wakeOf(first)]);
  await until(() => expect(shown).toMatchObject([{ key: first, message: "no" }]));
});

it("gives back the key that was assigned to a slot that it does not know", async () => {
  const { ran } = await work(1);
  const outcome = await ledger.claim(third, "of a life before");
  if ("refused" in outcome) throw new Error(outcome.refused);
  deliver(outcome.claimed);
  await until(() => expect(ran).toEqual([third]));
});
