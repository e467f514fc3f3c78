import { objectKey, queueOf, silentLog } from "@drover/controller";
import type { ReflectorStatus } from "@drover/kube";
import { openWorkQueue, type RunOutcome, type WorkQueue } from "@drover/queue";
import { setTimeout } from "node:timers/promises";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { redisOfFile } from "../../../queue/src/redis/redis.fixture.ts";
import { coreKind } from "../bridge-scene.fixture.ts";
import { type CampaignRunner, type CampaignRunnerOptions, openCampaignRunner } from "./campaign-runner.ts";
import type { FollowedStream } from "../streams/follow-stream.ts";
import { planStreams } from "../streams/plan-streams.ts";
import { registrationOf } from "../registration/registration.ts";

const { redis } = await redisOfFile();
const kind = { ...coreKind("Site", "sites"), group: "example.com" } as const;
const identity = { namespace: "web", name: "sites", uid: "u" };
const sites = queueOf(identity);
const registration = (name: string) => registrationOf(identity, { for: kind, campaign: { name } });
const [plan] = planStreams([registration("one")], new Map([[sites, "origin"]]));
let synced: boolean;
let followed: readonly FollowedStream[];
let looks = 0;
let begun: string[];
let finished: string[];
let campaigns: CampaignRunner;
let queue: WorkQueue;

beforeEach(async () => {
  if (plan === undefined) throw new Error("A registration follows its own kind.");
  synced = true;
  begun = [];
  finished = [];
  const status = { synced, silentFor: 0 } as ReflectorStatus;
  const reflector = { done: Promise.resolve(), status: () => ({ ...status, synced }) };
  const counts = { wakes: 0, events: 0, missed: 0 };
  followed = [{ plan, reflector, counts, lags: () => [], stop: () => Promise.resolve() }];
  await redis.flushall();
  queue = openWorkQueue({ redis, controller: sites, log: silentLog });
  campaigns = runnerOf({
    begin({ name, of }, now) {
      begun.push(of === "all" ? name : `${name} of failed keys`);
      return Promise.resolve({ startedAt: now });
    },
    finish({ name, of }, { total }) {
      finished.push(of === "all" ? name : `${name} of ${total} that failed`);
      return Promise.resolve();
    },
  });
});
afterEach(async () => {
  campaigns.stop();
  await queue.close();
});
/** A runner of campaigns for a kind without objects, unless `store` has some. */
const runnerOf = (store: Partial<CampaignRunnerOptions["store"]> = {}): CampaignRunner =>
  openCampaignRunner({
    log: silentLog,
    every: 1,
    followed: () => (looks++, followed),
    queueOf: () => queue,
    store: {
      async *objects() {},
      begin: (_, now) => Promise.resolve({ startedAt: now }),
      finish: () => Promise.resolve(),
      ...store,
    },
  });
/** The runner looked twice for the wanted campaigns, and so once after all that came before this call. */
const looked = async (): Promise<void> => {
  const before = looks;
  await expect.poll(() => looks).toBeGreaterThan(before + 1);
};
const reported = () => campaigns.progress().get(sites);

it("a campaign begins at the bridge that follows its kind, once the list is complete, and another name is another campaign", async () => {
  synced = false;
  campaigns.want([registration("one")]);
  await looked();
  campaigns.want([registration("two")]);
  await looked();
  expect(begun).toEqual([]);
  synced = true;
  await expect.poll(reported).toMatchObject({ name: "two", state: "Done" });
  campaigns.want([registration("three")]);
  await expect.poll(reported).toMatchObject({ name: "three" });
  expect(begun).toEqual(["two", "three"]);
});

it("a campaign begins once all namespaces of its controller are followed", async () => {
  const both = registrationOf(identity, {
    for: { ...kind, namespaces: ["a", "b"] },
    campaign: { name: "one" },
  });
  const all = planStreams([both], new Map([[sites, "origin"]])).map((of) => ({ ...followed[0]!, plan: of }));
  expect(all).toHaveLength(2);
  followed = all.slice(0, 1);
  campaigns.want([both]);
  await looked();
  expect(begun).toEqual([]);
  followed = all;
  await expect.poll(reported).toMatchObject({ name: "one", state: "Done" });
});

it("a campaign takes over changes of its declaration: its pace, and whether it is paused", async () => {
  campaigns.stop();
  const key = objectKey({ namespace: "web", name: "a" });
  campaigns = runnerOf({
    async *objects() {
      yield await Promise.resolve([key]);
    },
  });
  const paused = (is: boolean) =>
    registrationOf(identity, { for: kind, campaign: { name: "one", paused: is } });
  campaigns.want([paused(true)]);
  await expect.poll(reported).toMatchObject({ state: "Paused", left: 1 });
  campaigns.want([paused(false)]);
  await expect.poll(reported).toMatchObject({ state: "Running", left: 1 });
  await expect.poll(() => queue.stats(1_000)).toMatchObject({ due: 1 });
});

it("a bridge does not report a campaign of a kind that another bridge follows", async () => {
  campaigns.want([registration("one")]);
  await expect.poll(reported).toBeDefined();
  followed = [];
  await expect.poll(reported).toBeUndefined();
});

it("a campaign of failed keys wakes those that are parked or fail, once, and no others", async () => {
  const key = (name: string) => objectKey({ namespace: "web", name });
  const outcomes: Readonly<Record<string, RunOutcome>> = {
    "web/terminal": { kind: "terminal", error: "no" },
    "web/exhausted": { kind: "retry", error: "no" },
    "web/waits": { kind: "wait", after: 600_000 },
    "web/well": { kind: "done" },
  };
  const runs: (readonly [string, readonly string[]])[] = [];
  const work = (backoff: { readonly attempts?: number } = {}, usual: RunOutcome = { kind: "done" }) =>
    queue.work(({ key: of }) => Promise.resolve(outcomes[of] ?? usual), {
      concurrency: 1,
      timeout: 10_000,
      backoff: { first: 600_000, longest: 600_000, ...backoff },
      onSettled: ({ key: of, claim }) => void runs.push([of, claim.reasons]),
    });
  const wake = (name: string) =>
    queue.wake([
      { key: key(name), kind: "sites.example.com", resourceVersion: "1", reason: "Added", class: "change" },
    ]);
  const patient = work({}, { kind: "retry", error: "not yet" });
  for (const name of ["failing", "terminal", "waits", "well"]) await wake(name);
  // A first run may end before the queue has recorded the new worker's backoff: then the next one takes it.
  await expect
    .poll(async () => (await queue.inspect(key("failing"))).key.at)
    .toBeGreaterThan(Date.now() + 300_000);
  await expect.poll(() => new Set(runs.map(([of]) => of)).size).toBe(4);
  await patient.drain(0);
  const strict = work({ attempts: 1 });
  await wake("exhausted");
  await expect
    .poll(async () => {
      const { key: report } = await queue.inspect(key("exhausted"));
      // Its first run may have ended before the queue had recorded the new worker's number of attempts.
      if (report.state === "waits") await queue.force([key("exhausted")]);
      return report.state;
    })
    .toBe("parked");
  expect(await queue.stats(1_000)).toMatchObject({ parked: 2, failing: 2, scheduled: 2 });
  runs.splice(0);

  campaigns.want([
    { ...registrationOf(identity, { for: kind }), retries: { name: "rollout-2", perSecond: 1_000 } },
  ]);
  await expect.poll(() => runs.length).toBe(3);
  // Counted again, it finds none that has not run since, though all but one fail as before.
  await expect.poll(() => finished).toEqual(["rollout-2 of 2 that failed"]);
  expect(runs.map(([of]) => of).sort()).toEqual(["web/exhausted", "web/failing", "web/terminal"]);
  expect(new Set(runs.flatMap(([, reasons]) => reasons))).toEqual(new Set(["Campaign rollout-2"]));
  expect(reported()).toBeUndefined();
  await strict.drain(0);
});

it("a campaign begins by the queue's clock, which also times the runs", async () => {
  const notRunSince = queue.notRunSince.bind(queue);
  vi.spyOn(queue, "notRunSince").mockImplementation(async (...of) => ({
    ...(await notRunSince(...of)),
    now: 5,
  }));
  campaigns.want([registration("one")]);
  await expect.poll(reported).toMatchObject({ startedAt: new Date(5).toISOString() });
});

it("a campaign that Redis refused to record begins when Redis accepts it", async () => {
  campaigns.stop();
  let refusals = 1;
  campaigns = runnerOf({
    begin: (_, now) =>
      refusals-- > 0 ? Promise.reject(new Error("READONLY")) : Promise.resolve({ startedAt: now }),
  });
  campaigns.want([registration("one")]);
  await expect.poll(reported).toMatchObject({ name: "one", state: "Done" });
  expect(refusals).toBe(-1);
});

it("a stopped runner ends its campaigns, and begins no others", async () => {
  campaigns.stop();
  let begins = 0;
  campaigns = runnerOf({ begin: () => (begins++, Promise.reject(new Error("READONLY"))) });
  campaigns.want([registration("one")]);
  await expect.poll(() => begins).toBeGreaterThan(1);
  campaigns.stop();
  campaigns.want([registration("two")]);
  const before = { looks, begins };
  await setTimeout(50);
  expect({ looks, begins }).toEqual(before);
});
