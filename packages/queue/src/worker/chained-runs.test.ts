import { objectKey, type ObjectKey } from "@drover/controller";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Ledger } from "../ledger/ledger.ts";
import { openMemoryWorkQueue } from "./memory-work-queue.fixture.ts";
import { wakeOf } from "../work-queue/work-queue.contract.ts";
import type { QueueWorker, Run, RunOutcome, WorkQueue } from "../work-queue/work-queue.ts";

// A key that an outcome is answered with (chain-1) is renewed and fenced as one that was claimed (claim-6, server-6).
const times = { lease: 6_000, renewal: 500, recoveryWindow: 1_500 };
const [first, second] = [objectKey({ name: "first" }), objectKey({ name: "second" })];

interface Started {
  readonly run: Run;
  readonly end: (outcome: RunOutcome) => void;
}
let ledger: Ledger;
let queue: WorkQueue;
let worker: QueueWorker;
let isSilent: boolean;
/** How long the answer to an outcome is on its way, and whether the first one is lost after that. */
let late: { readonly ms: number; readonly isLost: boolean };
/** Tokens under which keys were chained. */
let chainedTokens: Set<string>;
let runs: Started[];
beforeEach(async () => {
  vi.useFakeTimers();
  [isSilent, late, runs, chainedTokens] = [false, { ms: 0, isLost: false }, [], new Set()];
  queue = openMemoryWorkQueue({
    environment: { now: () => Math.floor(performance.now()) },
    intercept: (memory) =>
      (ledger = {
        ...memory,
        renew: (leases) => (isSilent ? Promise.reject(new Error("Redis is away")) : memory.renew(leases)),
        async settle(...ending) {
          const answer = await memory.settle(...ending);
          const token = ending[4]?.token;
          if (token !== undefined && answer.kind === "settled" && answer.chained) chainedTokens.add(token);
          const { ms, isLost } = late;
          late = { ms: 0, isLost: false };
          await vi.advanceTimersByTimeAsync(0);
          if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
          if (isLost) throw new Error("The answer was lost");
          return answer;
        },
      }),
    times,
  });
  worker = queue.work((run) => new Promise((resolve) => void runs.push({ run, end: resolve })), {
    concurrency: 1,
    timeout: 10_000_000,
  });
  await vi.advanceTimersByTimeAsync(2 * times.recoveryWindow);
});
afterEach(async () => {
  for (const { end } of runs) end({ kind: "done" });
  await Promise.all([worker.drain(0), vi.advanceTimersByTimeAsync(20_000)]);
  await Promise.all([queue.close(), vi.advanceTimersByTimeAsync(20_000)]);
  vi.useRealTimers();
});

/** The run of a key that came in one of two ways. */
async function started(how: "taken from the queue" | "chained"): Promise<Started> {
  const keys = how === "chained" ? [first, second] : [second];
  for (const key of keys) await queue.wake([wakeOf(key)]);
  await vi.advanceTimersByTimeAsync(0);
  if (how === "chained") {
    expect(runs.map(({ run }) => run.key)).toEqual([first]);
    runs[0]?.end({ kind: "done" });
    await vi.advanceTimersByTimeAsync(late.ms + 1_000);
  }
  return runs.find(({ run }) => run.key === second) ?? expect.fail("It does not run.");
}
const claimable = async (key: ObjectKey): Promise<boolean> => {
  const answer = await ledger.claim(key, "another");
  return !("refused" in answer && answer.refused === "leased");
};

describe.each(["taken from the queue", "chained"] as const)("a key that was %s", (how) => {
  it("is leased for as long as its run lasts, and its outcome is taken", async () => {
    const { run, end } = await started(how);
    for (let spans = 0; spans < 10; spans++) {
      await vi.advanceTimersByTimeAsync(times.lease);
      expect([run.hasLease(), run.signal.aborted, await claimable(second)]).toEqual([true, false, false]);
    }
    end({ kind: "done" });
    await vi.advanceTimersByTimeAsync(0);
    expect((await queue.inspect(second)).runs[0]).toMatchObject({ verdict: "done" });
    expect(run.hasLease()).toBe(false);
    expect(new Set(runs.map((one) => one.run.token)).size).toBe(runs.length);
  });
  it("may not be written to while the ledger is silent, and is stopped before another may have it", async () => {
    const { run } = await started(how);
    isSilent = true;
    await vi.advanceTimersByTimeAsync(times.recoveryWindow);
    expect([run.hasLease(), run.signal.aborted]).toEqual([false, false]);
    while (!run.signal.aborted && !(await claimable(second))) await vi.advanceTimersByTimeAsync(50);
    expect([run.signal.aborted, await claimable(second)]).toEqual([true, false]);
  });
});

describe("the lease of a key that is chained counts from when the outcome was told", () => {
  it.each([
    ["comes late", false],
    ["is lost, and told again", true],
  ])("though its answer %s", async (_, isLost) => {
    isSilent = true;
    late = { ms: times.recoveryWindow - 100, isLost };
    const { run } = await started("chained");
    expect([run.hasLease(), run.signal.aborted]).toEqual([false, false]);
  });
  it("and one that may have ended by then is not begun", async () => {
    isSilent = true;
    late = { ms: times.lease - times.renewal, isLost: false };
    await started("chained").catch(() => undefined);
    const [token] = chainedTokens;
    expect(token).toBeDefined();
    expect(runs.map(({ run }) => run.token)).not.toContain(token);
  });
});
