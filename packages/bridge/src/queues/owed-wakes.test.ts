import { objectKey, type ObjectKey } from "@drover/controller";
import fc from "fast-check";
import { expect, it } from "vitest";
import { redisOfFile } from "../../../queue/src/redis/redis.fixture.ts";
import { heldStream, openTestStreams, wakeOf } from "../store/held-stream.fixture.ts";

const { redis } = await redisOfFile();

const keys = Array.from({ length: 6 }, (_, i) => objectKey({ namespace: "default", name: `n${i}` }));
const wake = (key: ObjectKey, version: number) =>
  wakeOf(key, { resourceVersion: String(version), reason: "Modified" });
const step = fc.oneof(
  { weight: 4, arbitrary: fc.subarray(keys, { minLength: 1 }).map((of) => ({ do: "add", of }) as const) },
  fc.constantFrom({ do: "settle" } as const, { do: "begin" } as const, { do: "end" } as const),
);

it("each wake that a queue has not accepted is recorded, or all keys are marked to be woken", async () => {
  let streams = 0;
  const property = fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
    const held = await heldStream(openTestStreams(redis, { mostOwed: 3 }), `v1/things-${streams++}`);
    const owed = held.owedTo("a");
    /** By key, the version that the queue has not accepted yet. */
    const pending = new Map<string, number>();
    /** The pending wakes when waking every key began. */
    let atBegin: ReadonlyMap<string, number> | undefined;
    const taken = (of: Iterable<readonly [string, number]>): void => {
      for (const [key, version] of of) if (pending.get(key) === version) pending.delete(key);
    };
    const recorded = async () => (await Array.fromAsync(owed.batches())).flatMap(({ wakes }) => wakes);
    let version = 0;
    for (const each of steps) {
      if (each.do === "add") {
        version++;
        await owed.add(each.of.map((key) => wake(key, version)));
        for (const key of each.of) pending.set(key, version);
      } else if (each.do === "settle") {
        for await (const piece of owed.batches()) {
          await owed.remove(piece);
          taken(piece.wakes.map((one) => [one.key, Number(one.resourceVersion)] as const));
        }
      } else if (each.do === "begin") {
        if (!(await owed.remaining()).all) continue;
        await owed.markAll("begin");
        atBegin = new Map(pending);
      } else if (atBegin) {
        await owed.markAll("end");
        taken(atBegin);
        atBegin = undefined;
      }
      if ((await owed.remaining()).all) continue;
      const known = new Map(
        (await recorded()).map((one) => [one.key as string, Number(one.resourceVersion)]),
      );
      for (const [key, wanted] of pending) expect(known.get(key), key).toBeGreaterThanOrEqual(wanted);
    }
  });
  await fc.assert(property, { numRuns: 200, seed: 1 });
});

it("a record of a wake that another program overwrote still wakes its key", async () => {
  const held = await heldStream(openTestStreams(redis), "v1/foreign");
  const owed = held.owedTo("a");
  await owed.add(keys.slice(0, 2).map((key) => wake(key, 7)));
  await redis.hset("{drover-stream:v1/foreign}:owed:a", keys[0] ?? "", "garbage", "no key /", "{}");
  const [piece] = await Array.fromAsync(owed.batches());
  const taken = new Map(piece?.wakes.map((one) => [one.key, one]));
  expect([...taken.keys()].sort()).toEqual(keys.slice(0, 2));
  expect(taken.get(keys[0]!)).toMatchObject({ resourceVersion: "0", class: "change" });
  expect(taken.get(keys[1]!)).toEqual(wake(keys[1]!, 7));
});

it("hundreds of owed wakes are each in one batch", async () => {
  const held = await heldStream(openTestStreams(redis), "v1/many");
  const many = Array.from({ length: 450 }, (_, i) => objectKey({ name: `m${i}` }));
  await held.owedTo("a").add(many.map((key) => wake(key, 1)));
  const pieces = await Array.fromAsync(held.owedTo("a").batches());
  expect(pieces.flatMap(({ wakes }) => wakes.map(({ key }) => key)).sort()).toEqual(many.toSorted());
  for (const piece of pieces) await held.owedTo("a").remove(piece);
  expect(await held.owedTo("a").remaining()).toEqual({ keys: 0, all: false });
});
