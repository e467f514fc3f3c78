import { objectKey, type ObjectKey } from "@drover/controller";
import { sleep, VirtualTimers } from "@drover/timers";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ClaimJob } from "./job-queue.ts";
import type { WorkerRegistration, LeasedKey, Ledger } from "../ledger/ledger.ts";
import { openMemoryJobQueue } from "./memory-job-queue.fixture.ts";
import { openMemoryWorkQueue } from "./memory-work-queue.fixture.ts";
import { wakeOf } from "../work-queue/work-queue.contract.ts";
import type { QueueWorker, Run, RunOutcome, WorkOptions, WorkQueue } from "../work-queue/work-queue.ts";

// How runs end, and workers: by a clock that a test moves, and jobs that it processes by hand.
const times = { lease: 6_000, renewal: 500, recoveryWindow: 1_500 };
const grace = 1_000_000;
const first = objectKey({ name: "first" });
const second = objectKey({ name: "second" });
const third = objectKey({ name: "third" });
const done: RunOutcome = { kind: "done" };

let clock: VirtualTimers;
let ledger: Ledger;
let queue: WorkQueue;
let worker: QueueWorker;
let runs: { readonly run: Run; readonly end: (outcome: RunOutcome) => void }[];
let processJob: (key: ObjectKey) => Promise<void>;
let added: ClaimJob[];
let settled: ObjectKey[];
let registrations: WorkerRegistration[];
/** Under which workers listen. */
let names: string[];
/** The faults of the ledger, and of its messages to workers about assigned keys. */
let fault: {
  refused?: "settle" | "claim" | "advertise" | "dispatch" | "renew";
  messages?: "lost";
  answer?: Promise<unknown>;
  claimed?: Promise<unknown>;
};

const handler = (run: Run) => new Promise<RunOutcome>((end) => void runs.push({ run, end }));
beforeEach(async () => {
  [runs, added, settled, registrations, names, fault] = [[], [], [], [], [], {}];
  clock = new VirtualTimers(1_000_000);
  queue = openMemoryWorkQueue({
    environment: { now: () => Math.floor(clock.now()) },
    intercept: (memory) => (ledger = faulty(memory)),
    jobQueue: {
      ...openMemoryJobQueue(),
      add: (jobs) => Promise.resolve(void added.push(...jobs)),
      consume(process) {
        processJob = process;
        return { stop: () => Promise.resolve() };
      },
    },
    timers: clock,
    times,
  });
  worker = queue.work(handler, {
    concurrency: 1,
    timeout: 10_000_000,
    onSettled: ({ key }) => void settled.push(key),
  });
  await pass(2 * times.recoveryWindow);
});
afterEach(async () => {
  fault = {};
  for (const { end } of runs) end(done);
  const left = vi.fn();
  const closed = worker.drain(0).then(() => queue.close());
  void closed.then(left);
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
    dispatch: () => refuse("dispatch") ?? real.dispatch(),
    renew: (leases) => refuse("renew") ?? real.renew(leases),
    registerWorker(registration) {
      registrations.push(registration);
      return real.registerWorker(registration);
    },
    advertise: (slots) => refuse("advertise") ?? real.advertise(slots),
    async retract(slots) {
      const answer = await real.retract(slots);
      await fault.answer;
      return answer;
    },
    receiveAssignments(name, receive) {
      names.push(name);
      return real.receiveAssignments(name, (assignment: LeasedKey) =>
        fault.messages === "lost" ? undefined : receive(assignment),
      );
    },
    async settle(...outcome) {
      await refuse("settle");
      const answer = await real.settle(...outcome);
      await fault.answer;
      return answer;
    },
  };
}

/** Moves the clock: the timers of this time go off, and have their effect. */
async function pass(span: number): Promise<void> {
  const end = clock.now() + span;
  do for (let turn = 0; turn < 4; turn++) await nextTurn();
  while (clock.step(end));
}
const wake = async (...keys: readonly ObjectKey[]): Promise<void> => {
  await queue.wake(keys.map(wakeOf));
  await pass(0);
};
const end = (outcome: RunOutcome): Promise<void> => (runs.at(-1)?.end(outcome), pass(0));
const ran = (): readonly ObjectKey[] => runs.map(({ run }) => run.key);
const counts = async () => {
  const { due, running } = await ledger.count();
  return { due, running };
};

/** Holds the answers to calls back, until the function that it returns is called. */
const holdBack = (what: "answer" | "claimed"): (() => void) => {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  fault = { [what]: promise };
  return () => resolve(undefined);
};
/** Runs the first key, and holds the answer to its outcome back. */
const endUnanswered = async (): Promise<() => void> => {
  const answer = holdBack("answer");
  await wake(first);
  await end(done);
  return answer;
};
/** Another worker takes the place of the one that is there. */
const replaced = async (options: Partial<WorkOptions>): Promise<void> => {
  await worker.drain(grace);
  worker = queue.work(handler, { concurrency: 1, timeout: 10_000_000, ...options });
  await pass(times.recoveryWindow);
};
/** There are workers elsewhere that are idle, and advertise no slot. */
const others = (): Promise<void> =>
  ledger.registerWorker({
    worker: "elsewhere",
    slots: 9,
    version: 0,
    lasts: 1_000_000,
    accounts: {},
    backoff: { first: 500, longest: 300_000 },
  });

describe("an outcome that Redis refuses", () => {
  it.each<RunOutcome>([
    done,
    { kind: "wait", after: 60_000 },
    { kind: "conflict" },
    { kind: "retry", error: "no" },
    { kind: "terminal", error: "no" },
  ])("for longer than a lease leaves its slot free for the next key: %j", async (outcome) => {
    await wake(first);
    fault = { refused: "settle" };
    await end(outcome);
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

/** The run of the second key. */
const started = async (how: "taken from the queue" | "chained"): Promise<Run> => {
  if (how === "chained") await wake(first);
  await wake(second);
  if (how === "chained") await end(done);
  expect(ran().at(-1)).toBe(second);
  return runs.at(-1)!.run;
};
const isClaimable = async (key: ObjectKey): Promise<boolean> => {
  const answer = await ledger.claim(key, "another");
  return !("refused" in answer && answer.refused === "leased");
};

describe.each(["taken from the queue", "chained"] as const)("a key that was %s", (how) => {
  it("is leased for as long as its run lasts, and its outcome is taken", async () => {
    const run = await started(how);
    for (let leases = 0; leases < 10; leases++) {
      await pass(times.lease);
      expect([run.hasLease(), run.signal.aborted, await isClaimable(second)]).toEqual([true, false, false]);
    }
    await end(done);
    expect((await queue.inspect(second)).runs[0]).toMatchObject({ verdict: "done" });
    expect(run.hasLease()).toBe(false);
    expect(new Set(runs.map((one) => one.run.token)).size).toBe(runs.length);
  });
  it("may not be written to while no renewal is answered, and is stopped before another run may have it", async () => {
    const run = await started(how);
    fault = { refused: "renew" };
    await pass(times.recoveryWindow);
    expect([run.hasLease(), run.signal.aborted]).toEqual([false, false]);
    while (!run.signal.aborted && !(await isClaimable(second))) await pass(50);
    expect([run.signal.aborted, await isClaimable(second)]).toEqual([true, false]);
  });
});

describe("the lease of a key that is chained counts from when the outcome was sent", () => {
  it.each([
    ["comes late", () => undefined],
    ["is lost, and the outcome sent again", () => Promise.reject(new Error("The answer was lost"))],
  ])("though its answer %s", async (_, answer) => {
    await wake(first);
    await wake(second);
    const late = times.recoveryWindow - 100;
    const answered = sleep(clock, late, "the answer").then(() => {
      fault = { refused: "renew" };
      return answer();
    });
    fault = { refused: "renew", answer: answered };
    await end(done);
    await pass(late + 1_000);
    const { run } = runs.at(-1)!;
    expect([run.key, run.hasLease(), run.signal.aborted]).toEqual([second, false, false]);
  });
  it("and a run whose lease may have ended by then does not begin", async () => {
    const settle = vi.spyOn(ledger, "settle");
    await wake(first);
    await wake(second);
    const late = times.lease - times.renewal;
    fault = { refused: "renew", answer: sleep(clock, late, "the answer") };
    await end(done);
    await pass(late + 1_000);
    expect(await settle.mock.results[0]?.value).toHaveProperty("chained.key", second);
    const token = settle.mock.calls[0]?.[4]?.token;
    expect(token).toBeDefined();
    expect(runs.map(({ run }) => run.token)).not.toContain(token);
  });
});

it("a key that is chained after a long run is held for a whole lease from then on", async () => {
  await wake(first);
  await wake(second);
  await pass(3 * times.lease);
  await end(done);
  expect(ran()).toEqual([first, second]);
  await pass(times.lease);
  const { run } = runs[1]!;
  expect([run.hasLease(), run.signal.aborted]).toEqual([true, false]);
  expect((await queue.inspect(second)).runs).toEqual([]); // it is the first one
});

it("an outcome that came too late is not reported as one that was taken", async () => {
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

it("a worker says at once what it asks for, then with every turn of the dispatcher, and no more once it has gone", async () => {
  const limits = { runs: { perSecond: 5, burst: 2 }, accounts: { aws: { perSecond: 1, burst: 1 } } };
  const other = queue.work(() => Promise.resolve(done), {
    concurrency: 3,
    timeout: 1_000,
    version: 2,
    backoff: { first: 7 },
    limits,
  });
  await pass(0);
  expect(registrations[0]).toMatchObject({ slots: 1, backoff: { first: 500, longest: 300_000 } });
  const { worker: name, ...asked } = registrations.at(-1)!;
  expect(asked).toMatchObject({ slots: 3, version: 2, ...limits, backoff: { first: 7, longest: 300_000 } });
  registrations = [];
  await pass(1_000);
  expect(registrations).toContainEqual({ worker: name, ...asked });
  await other.drain(grace);
  expect(registrations.at(-1)).toMatchObject({ worker: name, slots: 0 });
  registrations = [];
  await pass(10_000);
  expect(registrations.map((each) => each.worker)).not.toContain(name);
});

it("a key runs as soon as the time has come that its run asked for, though the dispatcher was to sleep for longer", async () => {
  await wake(first);
  await end({ kind: "wait", after: 300 });
  await pass(299);
  expect(ran()).toEqual([first]);
  await pass(1);
  expect(ran()).toEqual([first, first]);
});

it("a key whose time has come runs, though Redis refused to dispatch for a while", async () => {
  await wake(first);
  await end({ kind: "wait", after: 10_000 });
  fault = { refused: "dispatch" };
  await pass(9_000);
  fault = {};
  await pass(2_000);
  expect(ran()).toEqual([first, first]);
});

describe("a slot", () => {
  it("is advertised again once Redis takes advertisements, which it refused for a while", async () => {
    fault = { refused: "advertise" };
    await pass(3 * times.renewal);
    fault = {};
    await pass(times.recoveryWindow);
    await wake(first);
    expect(ran()).toEqual([first]); // no job was added
  });
  it("that a job took is not advertised, and assigned another key, as long as that one runs", async () => {
    await wake(first);
    await wake(second);
    await ledger.dispatch(); // a dispatcher has one job out
    const job = processJob(second);
    await end(done);
    expect(ran()).toEqual([first, second]);
    await pass(times.recoveryWindow);
    await wake(third);
    await pass(1_000);
    expect(ran()).toEqual([first, second]);
    await end(done);
    await job;
  });
  it.each(["dequeued", "chained"])(
    "gives back the key that it is assigned by an advertisement that came late, while it runs a key that was %s",
    async (how) => {
      const job = how === "dequeued" ? processJob(second) : undefined;
      if (job === undefined) {
        await wake(first);
        await wake(second);
        await end(done);
      }
      await pass(0);
      expect(ran().at(-1)).toBe(second);
      await others();
      const { key, token } = runs.at(-1)!.run;
      await ledger.advertise({ worker: names[0]!, askedAt: 1, version: 0, tokens: [token] });
      const running = ran().length;
      const late = objectKey({ name: "late" });
      await wake(late);
      expect(ran()).toHaveLength(running);
      expect((await ledger.inspect(late)).key.state).not.toBe("leased");
      expect((await ledger.inspect(key)).key.state).toBe("leased");
      await end(done);
      await job;
    },
  );
  it("that was assigned a key before its outcome was answered is one slot, as before", async () => {
    await others();
    const answer = await endUnanswered();
    await wake(second);
    expect(ran()).toEqual([first, second]);
    answer();
    fault = {};
    await pass(times.recoveryWindow);
    await wake(third);
    expect(ran()).toEqual([first, second]);
    await end(done);
    await pass(times.recoveryWindow);
    for (const name of ["x", "y", "z"]) await wake(objectKey({ name }));
    expect(ran()).toHaveLength(3);
  });
  it("and others hear of all keys that they were assigned when they are advertised again", async () => {
    await replaced({ concurrency: 3 });
    fault = { messages: "lost" };
    for (const key of [first, second, third]) await wake(key);
    expect([ran(), await counts()]).toEqual([[], { due: 0, running: 3 }]);
    await pass(times.renewal);
    expect(ran().toSorted()).toEqual([first, second, third].toSorted());
  });
  it("claims the key of a job for the version of its worker", async () => {
    await replaced({ version: 3 });
    const claim = vi.spyOn(ledger, "claim");
    const job = processJob(first);
    await pass(0);
    expect(claim.mock.calls).toEqual([[first, runs[0]!.run.token, 3, expect.any(Number)]]);
    await end(done);
    await job;
  });
  it("is free again where Redis refused the claim of a job", async () => {
    fault = { refused: "claim" };
    await expect(processJob(first)).rejects.toThrow("OOM");
    fault = {};
    await pass(times.recoveryWindow);
    await wake(second);
    expect(ran()).toEqual([second]);
  });
  it("is free again where the key of a job must not run now", async () => {
    await wake(first);
    await end({ kind: "wait", after: 60_000 });
    await processJob(first);
    await pass(times.recoveryWindow);
    await wake(second);
    expect(ran()).toEqual([first, second]);
  });
});

it.each<RunOutcome>([
  { kind: "retry", error: "no" },
  { kind: "terminal", error: "no" },
])("the next key gets a job at once when a run has failed: %j", async (outcome) => {
  await wake(first);
  await wake(second); // there is no room for a job
  expect(added).toEqual([]);
  await end(outcome);
  expect(added.map(({ key }) => key)).toEqual([second]);
});

describe("a run that is stopped", () => {
  /** The run of the first key has begun. */
  const begun = async (timeout: number): Promise<void> => {
    await replaced({ timeout });
    await wake(first);
    expect(ran()).toEqual([first]);
  };
  const outcomes = async () => (await queue.inspect(first)).runs.map(({ verdict: outcome }) => outcome);

  it("since it took too long has failed, where it does not return within a second", async () => {
    await begun(3_000);
    await pass(4_000);
    expect(runs[0]!.run.signal.aborted).toBe(true);
    const { key } = await queue.inspect(first);
    expect(key.fails).toBe(1);
    expect(key.error).toMatch(/^The run of first took longer than its timeout of 3000 ms and was stopped\. /);
    expect(await outcomes()).toEqual(["retry"]);
  });
  it("since it took too long comes to its own outcome, where it returns within a second", async () => {
    await begun(3_000);
    await pass(3_900);
    await end(done);
    expect(await outcomes()).toEqual(["done"]);
  });
  it("before it began, since its claim was answered when the lease was about to end, has not failed", async () => {
    const answer = holdBack("claimed");
    const job = processJob(first);
    await pass(times.lease - times.renewal);
    answer();
    fault = {};
    await pass(0);
    expect(await outcomes()).toEqual(["interrupted"]);
    expect(runs.map(({ run }) => [run.claim.fails, run.signal.aborted])).toEqual([[0, false]]); // the next one
    await end(done);
    await job;
  });
});

describe("a worker that is stopping", () => {
  it("has gone once its outcomes were refused for a lease, though Redis takes none", async () => {
    await wake(first);
    fault = { refused: "settle" };
    const left = vi.fn();
    void worker.drain(0).then(left);
    await end(done);
    await pass(2 * times.lease);
    expect(left).toHaveBeenCalled();
  });
  it("is assigned no more keys from that moment on, while its runs end", async () => {
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
  it("is given nothing once it has gone, though the answer to an outcome came late", async () => {
    const answer = await endUnanswered(); // it advertises its slot again
    const drained = worker.drain(grace);
    answer();
    await drained;
    await wake(second);
    expect([ran(), await counts()]).toEqual([[first], { due: 1, running: 0 }]);
  });
  it("gives back what it was given while the answers to its outcome and its goodbye were on their way", async () => {
    const answer = await endUnanswered();
    const drained = worker.drain(grace);
    await wake(second);
    expect([ran(), await counts()]).toEqual([[first], { due: 1, running: 0 }]);
    answer();
    await drained;
  });
  it("gives back what it was given while only the answer to its outcome was on its way", async () => {
    const answer = await endUnanswered();
    fault = {};
    const drained = worker.drain(grace);
    await wake(second);
    answer();
    await drained;
    expect([ran(), await counts()]).toEqual([[first], { due: 1, running: 0 }]);
  });
  it("gives back the keys that it was assigned and has not received, and lets no job wait for a slot", async () => {
    fault = { messages: "lost" };
    await wake(first, second);
    expect(await counts()).toEqual({ due: 1, running: 1 });
    const job = processJob(second); // its slot was assigned the first one, as the answer to its claim says
    await pass(0);
    await worker.drain(grace);
    await job;
    expect([ran(), await counts()]).toEqual([[], { due: 2, running: 0 }]);
    expect(added.map(({ key }) => key)).toContain(first); // jobs are added for others
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
  it("gives back all keys that it was assigned, and ends all jobs", async () => {
    await replaced({ concurrency: 3 });
    fault = { messages: "lost" };
    for (const key of [first, second, third]) await wake(key);
    expect(await counts()).toEqual({ due: 0, running: 3 });
    const jobs = [first, second, third].map((key) => processJob(key));
    await pass(0);
    await worker.drain(grace);
    await Promise.all(jobs);
    expect([ran(), await counts()]).toEqual([[], { due: 3, running: 0 }]);
  });
  it("runs the key that was chained to an outcome whose answer came late", async () => {
    const answer = holdBack("answer");
    await wake(first);
    await wake(second);
    await end(done);
    fault = {};
    const drained = worker.drain(grace);
    answer();
    await pass(0);
    expect(ran()).toEqual([first, second]);
    await end(done);
    await drained;
    expect(await counts()).toEqual({ due: 0, running: 0 });
  });
  it("begins no run of a job that comes late", async () => {
    await worker.drain(grace);
    await processJob(first);
    expect([ran(), await counts()]).toEqual([[], { due: 0, running: 0 }]);
  });
  it("begins no run of a claim that is answered when it has gone", async () => {
    const answer = holdBack("claimed");
    const job = processJob(first);
    await worker.drain(grace);
    answer();
    await job;
    expect([ran(), await counts()]).toEqual([[], { due: 1, running: 0 }]);
  });
});
