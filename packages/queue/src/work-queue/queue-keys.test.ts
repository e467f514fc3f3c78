import { namesQueueOf, queueOf } from "@drover/controller";
import { beforeEach, expect, it } from "vitest";
import { redisOfFile } from "../redis/redis.fixture.ts";
import { queuePrefix } from "./queue-prefix.ts";
import { deleteKeys, type QueueKeyScan, type QueueKey, scanQueueKeys } from "./queue-keys.ts";

const { redis } = await redisOfFile();
beforeEach(() => redis.flushall());

const mine = { namespace: "web", name: "shop" } as const;
const queueOfMine = queueOf({ ...mine, uid: "u1" });

/** Walks to the end; what is given is used once it has been refused as often as `refusals` says. */
async function walked(walk: QueueKeyScan, refusals = 0): Promise<readonly string[]> {
  const found = new Set<string>();
  let left = refusals;
  const use = (keys: readonly QueueKey[]): Promise<void> => {
    if (left-- > 0) return Promise.reject(new Error("refused"));
    for (const { name } of keys) found.add(name);
    return Promise.resolve();
  };
  while (await walk.step(use).catch(() => true));
  return [...found].sort();
}

it.each([1, 5_000])("keys that could not be used are given again: of %d", async (count) => {
  const names = Array.from({ length: count }, (_, i) => `${queuePrefix(queueOfMine)}:key:a/n${i}`);
  await redis.mset(Object.fromEntries(names.map((name) => [name, ""])));
  for (const refusals of [1, 3])
    expect(await walked(scanQueueKeys(redis), refusals)).toEqual(names.toSorted());
});

it("of one function all keys are given, whatever they are for, and none of another's", async () => {
  const others = [
    { ...mine, uid: "u2" },
    { ...mine, uid: "u10" },
    { namespace: "web", name: "shop2", uid: "u1" },
    { namespace: "we", name: "shop", uid: "u1" },
  ].map((each) => `${queuePrefix(queueOf(each))}:control`);
  const names = namesQueueOf(queueOfMine, { plural: "pods", group: "" });
  const ofMine = [
    ...["control", "key:a/b", "jobs:wait"].map((rest) => `${queuePrefix(queueOfMine)}:${rest}`),
    `${queuePrefix(names)}:key:a/b`,
    `{drover-hook:${queueOfMine}}:events`,
  ];
  const strangers = [
    "{drover-stream:pods}:seen",
    "{other:web/shop/u1}:control",
    "drover:web/shop/u1",
    "plain",
  ];
  for (const name of [...others, ...ofMine, ...strangers]) await redis.set(name, "");
  expect(await walked(scanQueueKeys(redis, queueOfMine))).toEqual(ofMine.toSorted());
  expect(await walked(scanQueueKeys(redis))).toEqual([...ofMine, ...others].toSorted());
});

it("only the keys that are given to it are deleted", async () => {
  const [gone, stays] = ["a/b", "a/bc"].map((key) => `${queuePrefix(queueOfMine)}:key:${key}`) as [
    string,
    string,
  ];
  const elsewhere = `${queuePrefix(queueOf({ ...mine, uid: "u2" }))}:key:a/b`;
  for (const name of [gone, stays, elsewhere]) await redis.set(name, "");
  await deleteKeys(
    redis,
    [gone, elsewhere].map((name) => ({ name, queue: "" })),
  );
  expect(await redis.keys("*")).toEqual([stays]);
});
