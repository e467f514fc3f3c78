import { objectKey } from "@drover/controller";
import { type Wake } from "@drover/queue";
import fc from "fast-check";
import { expect, it } from "vitest";
import { redisOfFile } from "../../../queue/src/redis/redis.fixture.ts";
import { groupOf } from "../streams/bridge-group.ts";
import { openStreamStore } from "../store/stream-store.ts";

const { redis } = await redisOfFile();

const keys = Array.from({ length: 6 }, (_, i) => objectKey({ namespace: "default", name: `n${i}` }));
const wake = (key: (typeof keys)[number], version: number): Wake => ({
  key,
  kind: "things",
  resourceVersion: String(version),
  reason: "Modified",
  class: "change",
});
const step = fc.oneof(
  { weight: 4, arbitrary: fc.subarray(keys, { minLength: 1 }).map((of) => ({ do: "add", of }) as const) },
  fc.constantFrom({ do: "settle" } as const, { do: "begin" } as const, { do: "end" } as const),
);

it("each wake that a queue has not taken is recorded, or all keys are to be woken", async () => {
  let streams = 0;
  const property = fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
    const store = openStreamStore({
      group: groupOf(),
      redis,
      holder: "bridge-1",
      lease: 60_000,
      mostOwed: 3,
    });
    const held = await store.hold(`v1/things-${streams++}`, {
      scope: "all",
      listeners: ["us"],
      queues: ["a"],
    });
    if ("heldBy" in held) throw new Error("held");
    const owed = held.owedTo("a");
    /** By key, the version of which the queue knows nothing yet. */
    const untold = new Map<string, number>();
    /** What was untold when it was begun to wake every key. */
    let telling: ReadonlyMap<string, number> | undefined;
    const taken = (of: Iterable<readonly [string, number]>): void => {
      for (const [key, version] of of) if (untold.get(key) === version) untold.delete(key);
    };
    const recorded = async () => (await Array.fromAsync(owed.batches())).flatMap(({ wakes }) => wakes);
    let version = 0;
    for (const each of steps) {
      if (each.do === "add") {
        version++;
        await owed.add(each.of.map((key) => wake(key, version)));
        for (const key of each.of) untold.set(key, version);
      } else if (each.do === "settle") {
        for await (const piece of owed.batches()) {
          await owed.remove(piece);
          taken(piece.wakes.map((one) => [one.key, Number(one.resourceVersion)] as const));
        }
      } else if (each.do === "begin") {
        if (!(await owed.remaining()).all) continue;
        await owed.markAll("begin");
        telling = new Map(untold);
      } else if (telling) {
        await owed.markAll("end");
        taken(telling);
        telling = undefined;
      }
      if ((await owed.remaining()).all) continue;
      const known = new Map(
        (await recorded()).map((one) => [one.key as string, Number(one.resourceVersion)]),
      );
      for (const [key, wanted] of untold) expect(known.get(key), key).toBeGreaterThanOrEqual(wanted);
    }
  });
  await fc.assert(property, { numRuns: 200, seed: 1 });
});

it("what another program wrote in the place of a wake still wakes its key", async () => {
  const store = openStreamStore({ group: groupOf(), redis, holder: "bridge-1", lease: 60_000 });
  const held = await store.hold("v1/foreign", { scope: "all", listeners: ["us"], queues: ["a"] });
  if ("heldBy" in held) throw new Error("held");
  const owed = held.owedTo("a");
  await owed.add(keys.slice(0, 2).map((key) => wake(key, 7)));
  await redis.hset("{drover-stream:v1/foreign}:owed:a", keys[0] ?? "", "garbage", "no key /", "{}");
  const [piece] = await Array.fromAsync(owed.batches());
  const taken = new Map(piece?.wakes.map((one) => [one.key, one]));
  expect([...taken.keys()].sort()).toEqual(keys.slice(0, 2));
  expect(taken.get(keys[0]!)).toMatchObject({ resourceVersion: "0", class: "change" });
  expect(taken.get(keys[1]!)).toEqual(wake(keys[1]!, 7));
});

it("hundreds of wakes that are owed are all in the pieces, each once", async () => {
  const store = openStreamStore({ group: groupOf(), redis, holder: "bridge-1", lease: 60_000 });
  const held = await store.hold("v1/many", { scope: "all", listeners: ["us"], queues: ["a"] });
  if ("heldBy" in held) throw new Error("held");
  const many = Array.from({ length: 450 }, (_, i) => objectKey({ name: `m${i}` }));
  await held.owedTo("a").add(many.map((key) => wake(key, 1)));
  const pieces = await Array.fromAsync(held.owedTo("a").batches());
  expect(pieces.flatMap(({ wakes }) => wakes.map(({ key }) => key)).sort()).toEqual(many.toSorted());
  for (const piece of pieces) await held.owedTo("a").remove(piece);
  expect(await held.owedTo("a").remaining()).toEqual({ keys: 0, all: false });
});
