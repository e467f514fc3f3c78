import { beforeEach, expect, it } from "vitest";
import { redisOfFile } from "../../../queue/src/redis/redis.fixture.ts";
import { joinGroup } from "./group-membership.ts";
import { groupOf } from "./bridge-group.ts";

const { redis } = await redisOfFile();
beforeEach(() => redis.flushall());

const fleet = groupOf();
const lasts = 60_000;
const bridge = (name: string, of = fleet) => joinGroup(redis, of, name, lasts);
/** Redis time, ms. */
const now = async (): Promise<number> => Number((await redis.time())[0]) * 1_000;

it("the bridges of a group see each other, until they leave", async () => {
  const [a, b] = [bridge("a"), bridge("b")];
  expect(await a.heartbeat()).toEqual(["a"]);
  expect([...(await b.heartbeat())].sort()).toEqual(["a", "b"]);
  expect(await bridge("c", groupOf("q")).heartbeat()).toEqual(["c"]);
  await a.leave();
  expect(await b.heartbeat()).toEqual(["b"]);
});

it("a bridge without a heartbeat for its lease is gone, as is one from before the clock was set back", async () => {
  await redis.zadd(fleet.members, (await now()) - 1, "dead");
  await redis.zadd(fleet.members, (await now()) + 11 * lasts, "from the future");
  await redis.zadd(fleet.members, (await now()) + lasts, "alive");
  expect([...(await bridge("a").heartbeat())].sort()).toEqual(["a", "alive"]);
});

it("a value that another program wrote is replaced", async () => {
  await redis.set(fleet.members, "garbage");
  expect(await bridge("a").heartbeat()).toEqual(["a"]);
});
