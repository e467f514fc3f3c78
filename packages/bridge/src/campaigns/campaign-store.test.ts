import { silentLog } from "@drover/controller";
import { connectRedis, disconnectRedis } from "@drover/queue";
import { afterAll, beforeEach, expect, it } from "vitest";
import { redisOfFile } from "../../../queue/src/redis/redis.fixture.ts";
import { type CampaignId, type CampaignStore, openCampaigns } from "./campaign-store.ts";
import { groupOf } from "../streams/bridge-group.ts";

/** The Redis of the bridges, and that of the controller's tenant. */
const { server, redis: own } = await redisOfFile();
const tenants = await connectRedis({ url: `${server.url}/1`, clientName: "test", log: silentLog });
afterAll(() => disconnectRedis(tenants));
let store: CampaignStore;
beforeEach(async () => {
  await own.flushall();
  store = openCampaigns(own, groupOf(), () => tenants);
});
const june: CampaignId = { controller: "c", of: "all", name: "june" };
const july: CampaignId = { ...june, name: "july" };
const done = { at: 9, total: 3 };

it("a campaign begins once, and another name is another campaign", async () => {
  expect(await store.begin(june, 5)).toEqual({ startedAt: 5 });
  expect(await store.begin(june, 6)).toEqual({ startedAt: 5 });
  expect(await store.begin(july, 7)).toEqual({ startedAt: 7 });
  expect(await store.begin(june, 8)).toEqual({ startedAt: 8 });
});

it("a campaign that is done stays so, and is not ended by one before it", async () => {
  await store.begin(june, 5);
  await store.begin(july, 7);
  await store.finish(june, done);
  expect(await store.begin(july, 8)).toEqual({ startedAt: 7 });
  await store.finish(july, done);
  expect(await store.begin(july, 8)).toEqual({ startedAt: 7, done });
});

it("campaigns of all objects and of failed keys run at the same time", async () => {
  const failed: CampaignId = { ...june, of: "failed" };
  await store.begin(june, 5);
  expect(await store.begin(failed, 6)).toEqual({ startedAt: 6 });
  await store.finish(failed, done);
  expect(await store.begin(june, 7)).toEqual({ startedAt: 5 });
});

it("a campaign is stored in the Redis of its controller's queue", async () => {
  await store.begin(june, 5);
  await store.finish(june, done);
  expect(await own.keys("*")).toEqual([]);
  expect(await tenants.keys("*")).toHaveLength(1);
});

it("a record that another program wrote is replaced", async () => {
  await store.begin(june, 5);
  const [key = ""] = await tenants.keys("*");
  await tenants.set(key, '{"name":"june"}');
  expect(await store.begin(june, 6)).toEqual({ startedAt: 6 });
});
