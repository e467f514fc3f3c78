import { objectKey } from "@drover/controller";
import { beforeEach, describe, expect, it } from "vitest";
import { openSteppedQueue, type SteppedQueue } from "./stepped-queue.ts";
import { wakeOf } from "../work-queue/work-queue.contract.ts";

const a = objectKey({ namespace: "default", name: "a" });
const b = objectKey({ namespace: "default", name: "b" });
const c = objectKey({ namespace: "default", name: "c" });
let now = 0;
let queue: SteppedQueue;
beforeEach(async () => {
  now = 1_000_000;
  const backoff = { first: 100, longest: 1_000 };
  queue = await openSteppedQueue({ controller: "steps", backoff, now: () => now, random: () => 0 });
});
const taken = async (): Promise<string[]> => {
  const keys: string[] = [];
  for (let assignment = await queue.claimNext(); assignment; assignment = await queue.claimNext()) {
    keys.push(assignment.key);
    await queue.settle(assignment, { kind: "done" });
  }
  return keys;
};

describe("a stepped queue", () => {
  it("gives every woken key once", async () => {
    await queue.wake([wakeOf(a), wakeOf(b), wakeOf(a)]);
    expect(await taken()).toEqual([a, b]);
    expect(await queue.claimNext()).toBeUndefined();
  });

  it("gives a failed key again when the clock says so", async () => {
    await queue.wake([wakeOf(a)]);
    const assignment = await queue.claimNext();
    await queue.settle(assignment!, { kind: "retry", error: "no" });
    expect(await queue.claimNext()).toBeUndefined();
    const [waits] = await queue.waiting();
    expect(waits).toMatchObject({ key: a, why: "backoff", at: now + 50 });
    now += 50;
    expect(await queue.claimNext()).toMatchObject({ key: a, claim: { fails: 1 } });
  });

  it("gives a key again whose worker died, when the lease is over", async () => {
    await queue.wake([wakeOf(a)]);
    const assignment = await queue.claimNext();
    expect(await queue.waiting()).toMatchObject([{ key: a, state: "leased", at: assignment!.until }]);
    now = assignment!.until;
    expect(await taken()).toEqual([a]);
  });

  it("tells of what is leased and of what waits by when that ends", async () => {
    await queue.wake([wakeOf(a), wakeOf(b), wakeOf(c)]);
    await queue.settle((await queue.claimNext())!, { kind: "wait", after: 60_000 });
    await queue.settle((await queue.claimNext())!, { kind: "wait", after: 10 });
    await queue.claimNext();
    expect((await queue.waiting()).map(({ key }) => key)).toEqual([b, c, a]);
  });

  it("tells of all that wait, however many", async () => {
    const keys = Array.from({ length: 1_500 }, (_, i) => objectKey({ name: `n${i}` }));
    await queue.wake(keys.map(wakeOf));
    for (let assignment = await queue.claimNext(); assignment; assignment = await queue.claimNext())
      await queue.settle(assignment, { kind: "wait", after: 60_000 });
    expect((await queue.waiting()).map(({ key }) => key).sort()).toEqual(keys.toSorted());
  });

  it("keeps those apart that are given up on", async () => {
    await queue.wake([wakeOf(a)]);
    await queue.settle((await queue.claimNext())!, { kind: "terminal", error: "never" });
    expect(await queue.parked()).toMatchObject([{ key: a, error: "never" }]);
  });
});
