import fc from "fast-check";
import { beforeEach, expect, it } from "vitest";
import { callHistory, type CallHistory } from "./call-history.ts";
import type { Call } from "./call.ts";
import { callAt } from "./testing/call-mutants.ts";

let now: number;
let runs: number;
beforeEach(() => void ([now, runs] = [Date.parse("2026-01-01T00:00:00Z"), 0]));

const take = async (history: CallHistory, call: Call, at: number): Promise<string | undefined> => {
  const reply = history.runOnce({ call, at, body: Buffer.from(JSON.stringify(call)) }, () => {
    runs++;
    return Promise.resolve({ status: 200, headers: {}, body: `${runs}`.padStart(100) });
  });
  return (await reply)?.body.trim();
};
/** A call of its own for another version of the object. */
const atVersion = (call: Call, version: number | bigint, token = "t"): Call => {
  const metadata = { ...call.object.metadata, resourceVersion: String(version) };
  return { ...call, token, object: { ...call.object, metadata } };
};
const nextVersion = ({ object }: Call): number => Number(object.metadata.resourceVersion) + 1;
/** Calls of as many keys, a second apart. */
const several = async (history: CallHistory, count: number): Promise<[Call, number][]> => {
  const calls: [Call, number][] = [];
  for (let i = 0; i < count; i++) {
    now += 1_000;
    calls.push([callAt(now), now]);
    await take(history, ...calls[i]!);
  }
  return calls;
};

it("what it has no room for is refused from then on, and never run again", async () => {
  const history = callHistory(() => now, { calls: 10, bytes: 1e6 });
  const calls = await several(history, 30);
  const again = await Promise.all(calls.map(([call, at]) => take(history, call, at)));
  expect(again.filter((answer) => answer === undefined).length).toBeGreaterThanOrEqual(20);
  expect(again.at(-1)).toBe("30");
  expect(runs).toBe(30);
  now += 1_000;
  expect(await take(history, callAt(now), now)).toBe("31");
});

it("nor is it of one key, called within a second, where only that decides which came first", async () => {
  const history = callHistory(() => now, { calls: 2, bytes: 1e6 });
  const calls = Array.from({ length: 3 }, () => callAt(now, { key: "web/ada" }));
  for (const call of [...calls, ...calls]) await take(history, call, now);
  expect(runs).toBe(2);
});

it("keeps so many bytes of answers; whose answer is gone is refused, and not run again", async () => {
  const history = callHistory(() => now, { calls: 100, bytes: 1_000 });
  const calls = await several(history, 30);
  const again = await Promise.all(calls.map(([call, at]) => take(history, call, at)));
  expect(again.filter((answer) => answer !== undefined)).toHaveLength(10);
  expect(runs).toBe(30);
});

it("a run that fails is not run again by the same call, and keeps no later one waiting for ever", async () => {
  const history = callHistory(() => now, { calls: 10, bytes: 1e6 });
  const call = callAt(now);
  const body = Buffer.from(JSON.stringify(call));
  const failed = history.runOnce({ call, at: now, body }, () => Promise.reject(new Error("a bug")));
  await expect(failed).rejects.toThrow("a bug");
  expect(history.runOnce({ call, at: now, body }, () => fail())).toBe(failed);
  now += 1_000;
  const later = atVersion(call, nextVersion(call));
  const before = Promise.withResolvers<Promise<unknown>>();
  void history.runOnce({ call: later, at: now, body: Buffer.from("") }, (context) => {
    before.resolve(context.previousEnded);
    return Promise.resolve({ status: 200, headers: {}, body: "" });
  });
  await expect(before.promise).resolves.toBeUndefined();
});

it("a call of an older version is refused, of numbers of any length", async () => {
  const version = fc.oneof(
    fc.bigInt({ min: 1n, max: 120n }),
    fc.bigInt({ min: 2n ** 53n - 9n, max: 2n ** 64n }),
  );
  await fc.assert(
    fc.asyncProperty(version, version, async (first, second) => {
      const history = callHistory(() => now, { calls: 10, bytes: 1e6 });
      const call = callAt(now);
      await take(history, atVersion(call, first, "t1"), now);
      expect((await take(history, atVersion(call, second, "t2"), now)) === undefined).toBe(second < first);
    }),
  );
});

it("forgets what could not be verified any more", async () => {
  const history = callHistory(() => now, { calls: 10, bytes: 1e6 });
  const [[first, at] = fail()] = await several(history, 1);
  now += 700_000;
  // An older version of the same object, by a clock of then: etcd was restored.
  expect(await take(history, atVersion(first, 5), now)).toBe("2");
  expect(at).toBeLessThan(now - 600_000);
});

it("knows a call for as long as it can be verified, by a clock that is ahead, too", async () => {
  const history = callHistory(() => now, { calls: 10, bytes: 1e6 });
  const [call, at] = [callAt(now), now + 299_000];
  expect(await take(history, call, at)).toBe("1");
  now += 590_000;
  await take(history, callAt(now), now);
  expect(await take(history, call, at)).toBe("1");
});

it("has the room again that forgotten answers took, also those that came when they were forgotten", async () => {
  const history = callHistory(() => now, { calls: 12, bytes: 1_000 });
  const late = Promise.withResolvers<{ status: number; headers: object; body: string }>();
  const slow = callAt(now);
  void history.runOnce({ call: slow, at: now, body: Buffer.from("") }, () => late.promise as Promise<never>);
  await several(history, 8);
  now += 700_000;
  await several(history, 1);
  late.resolve({ status: 200, headers: {}, body: "x".repeat(1_000) });
  await late.promise;
  const calls = await several(history, 9);
  const again = await Promise.all(calls.map(([call, at]) => take(history, call, at)));
  expect(again).not.toContain(undefined);
});

it("has room for the keys that were called last, however long ago they were called first", async () => {
  const history = callHistory(() => now, { calls: 3, bytes: 1e6 });
  const [first] = (await several(history, 2))[0] ?? fail();
  now += 1_000;
  const between = now;
  await take(history, atVersion(first, nextVersion(first)), now);
  await several(history, 1);
  // Sent by a gateway whose clock is a little behind.
  expect(await take(history, callAt(now), between)).toBeDefined();
});

function fail(): never {
  throw new Error("There is no call.");
}
