import { queueOf, silentLog } from "@drover/controller";
import type { ReflectorStatus } from "@drover/kube";
import { openMemoryWorkQueue } from "@drover/queue";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Campaigns, openCampaignRunner } from "./campaigns.ts";
import type { FollowedStream } from "./follow-stream.ts";
import { planStreams } from "@drover/streams";
import { registrationOf } from "./registration.ts";

const kind = {
  group: "example.com",
  version: "v1",
  kind: "Site",
  plural: "sites",
  scope: "Namespaced",
} as const;
const identity = { namespace: "web", name: "sites", uid: "u" };
const sites = queueOf(identity);
const registration = (name: string) => registrationOf(identity, { for: kind, campaign: { name } });
const [plan] = planStreams([registration("one")], new Map([[sites, "origin"]]));
let synced: boolean;
let followed: readonly FollowedStream[];
let begun: string[];
let campaigns: Campaigns;

beforeEach(() => {
  if (plan === undefined) throw new Error("A registration follows its own kind.");
  synced = true;
  begun = [];
  const status = { synced, silentFor: 0 } as ReflectorStatus;
  const reflector = { done: Promise.resolve(), status: () => ({ ...status, synced }) };
  const counts = { wakes: 0, events: 0, missed: 0 };
  followed = [{ plan, reflector, counts, lags: () => [], stop: () => Promise.resolve() }];
  const queue = openMemoryWorkQueue({ controller: sites, log: silentLog });
  campaigns = openCampaignRunner({
    ...{ log: silentLog, every: 5, followed: () => followed, queueOf: () => queue },
    store: {
      // There are none: whatever is begun is done.
      async *objects() {},
      begin({ name }) {
        begun.push(name);
        return Promise.resolve({ startedAt: 0 });
      },
      finish: () => Promise.resolve(),
    },
  });
});
afterEach(() => campaigns.stop());
const told = () => campaigns.progress().get(sites);

it("a campaign begins where its kind is followed, once all of it was told, and another name another one", async () => {
  synced = false;
  campaigns.want([registration("one")]);
  campaigns.want([registration("two")]);
  synced = true;
  await expect.poll(told).toMatchObject({ name: "two", state: "Done" });
  campaigns.want([registration("three")]);
  await expect.poll(told).toMatchObject({ name: "three" });
  expect(begun).toEqual(["two", "three"]);
});

it("a bridge says nothing of a campaign any more whose kind another one follows", async () => {
  campaigns.want([registration("one")]);
  await expect.poll(told).toBeDefined();
  followed = [];
  await expect.poll(told).toBeUndefined();
});
