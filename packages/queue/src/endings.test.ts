import { objectKey, type ObjectKey, silentLog } from "@drover/controller";
import { VirtualClock } from "@drover/timers";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Bell } from "./bells.ts";
import { openLedgerWorkQueue } from "./ledger-work-queue.ts";
import type { Enlistment, Given, Ledger } from "./ledger.ts";
import { memoryBells } from "./memory-bells.ts";
import { openMemoryLedger } from "./memory-ledger.ts";
import { wakeOf } from "./work-queue.contract.ts";
import type { QueueWorker, Run, Verdict, WorkOptions, WorkQueue } from "./work-queue.ts";

// How runs end, and workers: by a clock that a test moves, and bells that it rings by hand.
const times = { lease: 6_000, renewal: 500, settling: 1_500 };
const grace = 1_000_000;
const [first, second, third] = ["first", "second", "third"].map((name) => objectKey({ name })) as [
  ObjectKey,
  ObjectKey,
  ObjectKey,
];
const done: Verdict = { kind: "done" };

let clock: VirtualClock;
let ledger: Ledger;
let queue: WorkQueue;
let worker: QueueWorker;
let runs: { readonly run: Run; readonly end: (verdict: Verdict) => void }[];
let ring: (key: ObjectKey) => Promise<void>;
let added: Bell[];
let settled: ObjectKey[];
let enlisted: Enlistment[];
/** Under which workers listen. */
let names: string[];
/** What is wrong with the ledger. Its letters: what it tells workers that they were given. */
let fault: {
  refused?: "settle" | "claim" | "offer" | "ring";
  letters?: "lost";
  answer?: Promise<unknown>;
  claimed?: Promise<unknown>;
};

const handler = (run: Run) => new Promise<Verdict>((end) => void runs.push({ run, end }));
beforeEach(async () => {
  [runs, added, settled, enlisted, names, fault] = [[], [], [], [], [], {}];
  clock = new VirtualClock(1_000_000);
  queue = openLedgerWorkQueue({
    controller: "buckets",
    openLedger: (own, onEra) => {
      ledger = faulty(openMemoryLedger({ ...own, onEra, now: () => Math.floor(clock.now()) }));
      return { ledger, async *keys() {} };
    },
    bells: {
      ...memoryBells(),
      add: (bells) => Promise.resolve(void added.push(...bells)),
      listen(answer) {
        ring = answer;
        return { stop: () => Promise.resolve() };
      },
    },
    log: silentLog,
    timers: clock,
    times,
    onIncarnation: undefined,
    ping: () => Promise.resolve(),
  });
  worker = queue.work(handler, {
    concurrency: 1,
    timeout: 10_000_000,
    onSettled: ({ key }) => void settled.push(key),
  });
  await pass(2 * times.settling);
});
afterEach(async () => {
  fault = {};
  for (const { end } of runs) end(done);
  const left = vi.fn();
  void worker
    .drain(0)
    .then(() => queue.close())
    .then(left);
  for (let i = 0; i < 200 && left.mock.calls.length === 0; i++) await pass(100);
  expect(left).toHaveBeenCalled();
  expect(clock.next).toBeUndefined(); // nothing is left behind
});

function faulty(real: Ledger): Ledger {
  const refuse = (what: typeof fault.refused): Promise<never> | undefined =>
    fault.refused === what ? Promise.reject(new Error("OOM")) : undefined;
  return {
    ...real,
    async claim(...claim) {
      await refuse("claim");
      const answer = await real.claim(...claim);
      await fault.claimed;
      return answer;
    },
    ring: () => refuse("ring") ?? real.ring(),
    enlist(enlistment) {
      enlisted.push(enlistment);
      return real.enlist(enlistment);
    },
    offer: (offers) => refuse("offer") ?? real.offer(offers),
    async withdraw(offers) {
      const answer = await real.withdraw(offers);
      await fault.answer;
      return answer;
    },
    listen(name, hear) {
      names.push(name);
      return real.listen(name, (given: Given) => (fault.letters === "lost" ? undefined : hear(given)));
    },
    async settle(...verdict) {
      await refuse("settle");
      const answer = await real.settle(...verdict);
      await fault.answer;
      return answer;
    },
  };
}

/** What falls due in this time goes off, and has its effect. */
async function pass(span: number): Promise<void> {
  const end = clock.now() + span;
  do for (let turn = 0; turn < 4; turn++) await nextTurn();
  while (clock.step(end));
}
const wake = async (...keys: readonly ObjectKey[]): Promise<void> => {
  await queue.wake(keys.map(wakeOf));
  await pass(0);
};
const end = (verdict: Verdict): Promise<void> => (runs.at(-1)?.end(verdict), pass(0));
const ran = (): readonly ObjectKey[] => runs.map(({ run }) => run.key);
const counts = async () => {
  const { due, running } = await ledger.count();
  return { due, running };
};

/** Another worker takes the place of the one that is there. */
const replaced = async (options: Partial<WorkOptions>): Promise<void> => {
  await worker.drain(grace);
  worker = queue.work(handler, { concurrency: 1, timeout: 10_000_000, ...options });
  await pass(times.settling);
};
/** There are workers elsewhere that are idle, and offer no slot. */
const others = (): Promise<void> =>
  ledger.enlist({
    worker: "elsewhere",
    slots: 9,
    version: 0,
    lasts: 1_000_000,
    accounts: {},
    backoff: { first: 500, longest: 300_000 },
  });

describe("a verdict that Redis refuses", () => {
  it.each<Verdict>([
    done,
    { kind: "wait", after: 60_000 },
    { kind: "conflict" },
    { kind: "retry", error: "no" },
    { kind: "terminal", error: "no" },
  ])("for longer than a lease leaves its slot free for the next key: %j", async (verdict) => {
    await wake(first);
    fault = { refused: "settle" };
    await end(verdict);
    await pass(2 * times.lease);
    fault = {};
    await wake(second);
    for (let i = 0; i < 20 && !ran().includes(second); i++) {
      await pass(1_000);
      if (!ran().includes(second)) await end(done);
    }
    expect(ran()).toContain(second);
  });
  it.each([0, 3 * times.lease])(
    "is sent again for a whole lease, though its run took %d ms",
    async (took) => {
      await wake(first);
      await pass(took);
      fault = { refused: "settle" };
      await end(done);
      await pass(times.lease - 1_000);
      fault = {};
      await pass(2 * times.lease);
      const { key, runs: past } = await queue.inspect(first);
      expect([key.state, key.fails]).toEqual(["idle", 0]);
      expect(past).toMatchObject([{ verdict: "done", duration: took }]);
      expect(ran()).toEqual([first]);
    },
  );
});

it("a key that is handed over after a long run is held for a whole lease from then on", async () => {
  await wake(first);
  await wake(second);
  await pass(3 * times.lease);
  await end(done);
  expect(ran()).toEqual([first, second]);
  await pass(times.lease);
  const { run } = runs[1]!;
  expect([run.held(), run.signal.aborted]).toEqual([true, false]);
  expect((await queue.inspect(second)).runs).toEqual([]); // it is the first one
});

it("a verdict that came too late is not reported as one that was taken", async () => {
  await wake(first);
  await ledger.settle(first, runs[0]!.run.token, { kind: "interrupted" });
  await ledger.claim(first, "somebody else's");
  await ledger.settle(first, "somebody else's", done);
  await end(done);
  expect(settled).toEqual([]);
  await wake(second);
  await pass(times.lease);
  await end(done);
  expect(settled).toEqual([runs.at(-1)!.run.key]);
});

it("a worker says at once what it asks for, then as often as it rings, and no more once it has gone", async () => {
  const limits = { runs: { perSecond: 5, burst: 2 }, accounts: { aws: { perSecond: 1, burst: 1 } } };
  const other = queue.work(() => Promise.resolve(done), {
    concurrency: 3,
    timeout: 1_000,
    version: 2,
    backoff: { first: 7 },
    limits,
  });
  await pass(0);
  expect(enlisted[0]).toMatchObject({ slots: 1, backoff: { first: 500, longest: 300_000 } });
  const { worker: name, ...asked } = enlisted.at(-1)!;
  expect(asked).toMatchObject({ slots: 3, version: 2, ...limits, backoff: { first: 7, longest: 300_000 } });
  enlisted = [];
  await pass(1_000);
  expect(enlisted).toContainEqual({ worker: name, ...asked });
  await other.drain(grace);
  expect(enlisted.at(-1)).toMatchObject({ worker: name, slots: 0 });
  enlisted = [];
  await pass(10_000);
  expect(enlisted.map((each) => each.worker)).not.toContain(name);
});

it("a key whose time has come runs, though Redis refused to ring for a while", async () => {
  await wake(first);
  await end({ kind: "wait", after: 10_000 });
  fault = { refused: "ring" };
  await pass(9_000);
  fault = {};
  await pass(2_000);
  expect(ran()).toEqual([first, first]);
});

describe("a slot", () => {
  it("is offered again once Redis takes offers, which it refused for a while", async () => {
    fault = { refused: "offer" };
    await pass(3 * times.renewal);
    fault = {};
    await pass(times.settling);
    await wake(first);
    expect(ran()).toEqual([first]); // no bell was rung
  });
  it("that a bell took is not offered, and given another key, as long as that one runs", async () => {
    await wake(first);
    await wake(second);
    await ledger.ring(); // a ringer has one bell out
    const bell = ring(second);
    await end(done);
    expect(ran()).toEqual([first, second]);
    await pass(times.settling);
    await wake(third);
    await pass(1_000);
    expect(ran()).toEqual([first, second]);
    await end(done);
    await bell;
  });
  it.each(["rung", "handed over"])(
    "gives back what it is given by an offer that came late, while it runs a key that was %s",
    async (how) => {
      const bell = how === "rung" ? ring(second) : undefined;
      if (bell === undefined) {
        await wake(first);
        await wake(second);
        await end(done);
      }
      await pass(0);
      expect(ran().at(-1)).toBe(second);
      await others();
      const { key, token } = runs.at(-1)!.run;
      await ledger.offer({ worker: names[0]!, askedAt: 1, version: 0, tokens: [token] });
      const running = ran().length;
      const late = objectKey({ name: "late" });
      await wake(late);
      expect(ran()).toHaveLength(running);
      expect((await ledger.inspect(late)).key.state).not.toBe("leased");
      expect((await ledger.inspect(key)).key.state).toBe("leased");
      await end(done);
      await bell;
    },
  );
  it("that was given a key before its verdict was answered is one slot, as before", async () => {
    await others();
    const answer = Promise.withResolvers<undefined>();
    fault = { answer: answer.promise };
    await wake(first);
    await end(done);
    await wake(second);
    expect(ran()).toEqual([first, second]);
    answer.resolve(undefined);
    fault = {};
    await pass(times.settling);
    await wake(third);
    expect(ran()).toEqual([first, second]);
    await end(done);
    await pass(times.settling);
    for (const name of ["x", "y", "z"]) await wake(objectKey({ name }));
    expect(ran()).toHaveLength(3);
  });
  it("and others hear of all that they were given when they are offered again", async () => {
    await replaced({ concurrency: 3 });
    fault = { letters: "lost" };
    for (const key of [first, second, third]) await wake(key);
    expect([ran(), await counts()]).toEqual([[], { due: 0, running: 3 }]);
    await pass(times.renewal);
    expect(ran().toSorted()).toEqual([first, second, third].toSorted());
  });
  it("claims the key of a bell for the version of its worker", async () => {
    await replaced({ version: 3 });
    const claim = vi.spyOn(ledger, "claim");
    const bell = ring(first);
    await pass(0);
    expect(claim.mock.calls).toEqual([[first, runs[0]!.run.token, 3]]);
    await end(done);
    await bell;
  });
  it("is free again where Redis refused the claim of a bell", async () => {
    fault = { refused: "claim" };
    await expect(ring(first)).rejects.toThrow("OOM");
    fault = {};
    await pass(times.settling);
    await wake(second);
    expect(ran()).toEqual([second]);
  });
  it("is free again where the key of a bell must not run now", async () => {
    await wake(first);
    await end({ kind: "wait", after: 60_000 });
    await ring(first);
    await pass(times.settling);
    await wake(second);
    expect(ran()).toEqual([first, second]);
  });
});

it.each<Verdict>([
  { kind: "retry", error: "no" },
  { kind: "terminal", error: "no" },
])("the next key is rung for at once when a run has failed: %j", async (verdict) => {
  await wake(first);
  await wake(second); // there is no room for a bell
  expect(added).toEqual([]);
  await end(verdict);
  expect(added.map(({ key }) => key)).toEqual([second]);
});

describe("a run that is stopped", () => {
  /** The run of the first key has begun. */
  const begun = async (timeout: number): Promise<void> => {
    await replaced({ timeout });
    await wake(first);
    expect(ran()).toEqual([first]);
  };
  const verdicts = async () => (await queue.inspect(first)).runs.map(({ verdict }) => verdict);

  it("since it took too long has failed, where it does not return within a second", async () => {
    await begun(3_000);
    await pass(4_000);
    expect(runs[0]!.run.signal.aborted).toBe(true);
    const { key } = await queue.inspect(first);
    expect([key.fails, key.error]).toEqual([1, "The run of first took longer than 3000 ms."]);
    expect(await verdicts()).toEqual(["retry"]);
  });
  it("since it took too long comes to its own verdict, where it returns within a second", async () => {
    await begun(3_000);
    await pass(3_900);
    await end(done);
    expect(await verdicts()).toEqual(["done"]);
  });
  it("before it began, since its claim was answered when the lease was about to end, has not failed", async () => {
    const answer = Promise.withResolvers<undefined>();
    fault = { claimed: answer.promise };
    const bell = ring(first);
    await pass(times.lease - times.renewal);
    answer.resolve(undefined);
    fault = {};
    await pass(0);
    expect(await verdicts()).toEqual(["interrupted"]);
    expect(runs.map(({ run }) => [run.claim.fails, run.signal.aborted])).toEqual([[0, false]]); // the next one
    await end(done);
    await bell;
  });
});

describe("a worker that is stopping", () => {
  it("has gone once its verdicts were refused for a lease, though Redis takes none", async () => {
    await wake(first);
    fault = { refused: "settle" };
    const left = vi.fn();
    void worker.drain(0).then(left);
    await end(done);
    await pass(2 * times.lease);
    expect(left).toHaveBeenCalled();
  });
  it("is given nothing more from that moment on, while its runs end", async () => {
    const other = queue.work(handler, { concurrency: 2, timeout: 10_000_000 });
    const drained = worker.drain(grace);
    await drained;
    await pass(1_000);
    await wake(first);
    expect(ran()).toEqual([first]);
    const left = vi.fn();
    const leaving = other.drain(grace).then(left);
    await wake(second);
    await pass(1_000);
    expect([ran(), await counts()]).toEqual([[first], { due: 1, running: 1 }]);
    expect(left).not.toHaveBeenCalled();
    await end(done);
    await leaving;
  });
  it("is given nothing once it has gone, though the answer to a verdict came late", async () => {
    const answer = Promise.withResolvers<undefined>();
    fault = { answer: answer.promise };
    await wake(first);
    await end(done); // it offers its slot again
    const drained = worker.drain(grace);
    answer.resolve(undefined);
    await drained;
    await wake(second);
    expect([ran(), await counts()]).toEqual([[first], { due: 1, running: 0 }]);
  });
  it("gives back what it was given while the answers to its verdict and its goodbye were on their way", async () => {
    const answer = Promise.withResolvers<undefined>();
    fault = { answer: answer.promise };
    await wake(first);
    await end(done);
    const drained = worker.drain(grace);
    await wake(second);
    expect([ran(), await counts()]).toEqual([[first], { due: 1, running: 0 }]);
    answer.resolve(undefined);
    await drained;
  });
  it("gives back what it was given while only the answer to its verdict was on its way", async () => {
    const answer = Promise.withResolvers<undefined>();
    fault = { answer: answer.promise };
    await wake(first);
    await end(done);
    fault = {};
    const drained = worker.drain(grace);
    await wake(second);
    answer.resolve(undefined);
    await drained;
    expect([ran(), await counts()]).toEqual([[first], { due: 1, running: 0 }]);
  });
  it("gives back what it was given and has not heard of, and lets no bell wait for a slot", async () => {
    fault = { letters: "lost" };
    await wake(first, second);
    expect(await counts()).toEqual({ due: 1, running: 1 });
    const bell = ring(second); // its slot was given the first one, as the answer to its claim says
    await pass(0);
    await worker.drain(grace);
    await bell;
    expect([ran(), await counts()]).toEqual([[], { due: 2, running: 0 }]);
    expect(added.map(({ key }) => key)).toContain(first); // others are rung for
  });
  it("and whose queue is closed has gone at once, whoever sleeps", async () => {
    await worker.drain(grace);
    await pass(10);
    const gone = vi.fn();
    void queue.close().then(gone);
    await pass(0);
    expect(gone).toHaveBeenCalled();
  });
  it("stops all its runs when its grace is over", async () => {
    await replaced({ concurrency: 3 });
    for (const key of [first, second, third]) await wake(key);
    const drained = worker.drain(1_000);
    await pass(999);
    expect(runs.map(({ run }) => run.signal.aborted)).toEqual([false, false, false]);
    await pass(1);
    expect(runs.map(({ run }) => run.signal.aborted)).toEqual([true, true, true]);
    for (const run of runs) run.end({ kind: "interrupted" });
    await drained;
    expect(await counts()).toEqual({ due: 3, running: 0 });
  });
  it("gives back all that it was given, and lets all bells go", async () => {
    await replaced({ concurrency: 3 });
    fault = { letters: "lost" };
    for (const key of [first, second, third]) await wake(key);
    expect(await counts()).toEqual({ due: 0, running: 3 });
    const bells = [first, second, third].map((key) => ring(key));
    await pass(0);
    await worker.drain(grace);
    await Promise.all(bells);
    expect([ran(), await counts()]).toEqual([[], { due: 3, running: 0 }]);
  });
  it("runs the key that it was handed by a verdict whose answer came late", async () => {
    const answer = Promise.withResolvers<undefined>();
    fault = { answer: answer.promise };
    await wake(first);
    await wake(second);
    await end(done);
    fault = {};
    const drained = worker.drain(grace);
    answer.resolve(undefined);
    await pass(0);
    expect(ran()).toEqual([first, second]);
    await end(done);
    await drained;
    expect(await counts()).toEqual({ due: 0, running: 0 });
  });
  it("begins no run of a bell that comes late", async () => {
    await worker.drain(grace);
    await ring(first);
    expect([ran(), await counts()]).toEqual([[], { due: 0, running: 0 }]);
  });
  it("begins no run of a claim that is answered when it has gone", async () => {
    const answer = Promise.withResolvers<undefined>();
    fault = { claimed: answer.promise };
    const bell = ring(first);
    await worker.drain(grace);
    answer.resolve(undefined);
    await bell;
    expect([ran(), await counts()]).toEqual([[], { due: 1, running: 0 }]);
  });
});
