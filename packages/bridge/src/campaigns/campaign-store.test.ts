import { silentLog } from "@drover/controller";
import { type RedisServer, startRedis } from "@drover/local-servers";
import { connectRedis, disconnectRedis, type RedisConnection } from "@drover/queue";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { type CampaignId, type CampaignStore, openCampaigns } from "./campaign-store.ts";
import { groupOf } from "../streams/bridge-group.ts";

let server: RedisServer;
/** The bridges' own, and the one of the controller's tenant. */
let own: RedisConnection;
let tenants: RedisConnection;
let store: CampaignStore;
beforeAll(async () => {
  server = await startRedis({ persistence: false });
  const connected = (db: number) =>
    connectRedis({ url: `${server.url}/${db}`, clientName: "test", log: silentLog });
  [own, tenants] = [await connected(0), await connected(1)];
});
afterAll(async () => {
  await Promise.all([own, tenants].map(disconnectRedis));
  await server.stop();
});
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

it("campaigns of all objects and of those that failed run beside each other", async () => {
  const failed: CampaignId = { ...june, of: "failed" };
  await store.begin(june, 5);
  expect(await store.begin(failed, 6)).toEqual({ startedAt: 6 });
  await store.finish(failed, done);
  expect(await store.begin(june, 7)).toEqual({ startedAt: 5 });
});

it("a campaign is kept where its controller's queue is", async () => {
  await store.begin(june, 5);
  await store.finish(june, done);
  expect(await own.keys("*")).toEqual([]);
  expect(await tenants.keys("*")).toHaveLength(1);
});

it("what somebody else put in its place makes room", async () => {
  await store.begin(june, 5);
  const [key = ""] = await tenants.keys("*");
  await tenants.set(key, '{"name":"june"}');
  expect(await store.begin(june, 6)).toEqual({ startedAt: 6 });
});
