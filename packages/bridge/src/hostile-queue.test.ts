import { customResourceDefinition, queueOf, ReconcileFunction, silentLog } from "@drover/controller";
import { installCrd, refOf } from "@drover/kube";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import {
  configMapKind,
  controlOf,
  coreKind,
  testRegistration,
  openBridgeScene,
  type RunningBridge,
  type BridgeScene,
} from "./bridge-scene.fixture.ts";
import { writeFollowStatus } from "./registration/follow-status.ts";

let scene: BridgeScene;
beforeEach(async () => (scene = await openBridgeScene()));
afterEach(() => scene[Symbol.asyncDispose]());

const until = (look: () => Promise<void> | void) => vi.waitFor(look, { timeout: 30_000, interval: 20 });
const woken = (queue: string, name: string, times = 1) =>
  until(async () => expect(await scene.wakes(queue, name)).toBe(times));
const lags = ({ bridge }: RunningBridge) => bridge.followed().flatMap((stream) => stream.lags());
const follows = ({ bridge }: RunningBridge, streams = 1) =>
  until(() => {
    expect(bridge.followed()).toHaveLength(streams);
    for (const { reflector } of bridge.followed()) expect(reflector.status().synced).toBe(true);
  });
const caughtUp = (running: RunningBridge) =>
  until(async () => {
    expect(lags(running)).toEqual([]);
    expect(await scene.admin.keys("{drover-stream:*:owed:*")).toEqual([]);
    expect(await scene.admin.keys("{drover-stream:*:behind")).toEqual([]);
  });
/** What a function's own Redis user may do to its queue. */
const poison = async (queue: string) => (await scene.asFunction(queue)).hset(controlOf(queue), "schema", 999);
const heal = (queue: string) => scene.admin.hdel(controlOf(queue), "schema");
const both = [testRegistration("evil"), testRegistration("victim")];

it("a queue that its function has poisoned stops no other, and gets what it missed and nothing else", async () => {
  await scene.put("still");
  const running = await scene.startBridge();
  running.bridge.register(both);
  await woken("victim", "still");
  await woken("evil", "still");
  await poison("evil");
  for (const name of ["one", "two", "three"]) await scene.put(name);
  for (const name of ["one", "two", "three"]) await woken("victim", name);
  await scene.put("two", { data: { a: "b" } });
  await scene.remove("three");
  await woken("victim", "two", 2);
  await woken("victim", "three", 2);
  expect(await scene.wakes("evil", "one")).toBe(0);
  expect(lags(running)).toMatchObject([
    { queue: "-/evil/-", why: expect.stringMatching(/SCHEMA 999/) as string },
  ]);
  expect(running.bridge.problems()).toEqual([]);
  expect(running.bridge.notes().join()).toMatch(/the queue of evil has not accepted the wakes of configmaps/);

  await heal("evil");
  for (const name of ["one", "two", "three"])
    await until(async () => expect(await scene.wakes("evil", name)).toBeGreaterThan(0));
  await caughtUp(running);
  const version = async (queue: string, name: string) =>
    (await scene.entry(queue, name))["version:configmaps"];
  for (const name of ["one", "two", "three"])
    expect(await version("evil", name)).toBe(await version("victim", name));
  expect(await scene.wakes("evil", "still")).toBe(1);
  await scene.put("four");
  await woken("evil", "four");
});

it("a function whose queue takes no wakes says so in its status, and the other does not", async () => {
  await installCrd(scene.client, { ...customResourceDefinition(ReconcileFunction) });
  const object = (name: string) => ({
    metadata: { name, namespace: "default" },
    spec: { for: configMapKind },
  });
  const ref = refOf(ReconcileFunction);
  const objects = await Promise.all(["evil", "victim"].map((name) => scene.client.create(ref, object(name))));
  const running = await scene.startBridge();
  running.bridge.register(both);
  await follows(running);
  const stated = async () => {
    const functions = objects.map((one, i) => ({
      key: `default/${one.metadata.name}` as never,
      object: one,
      registration: both[i]!,
    }));
    await writeFollowStatus({
      client: scene.client,
      functions,
      bridge: running.bridge,
      deployer: undefined,
      log: silentLog,
    });
    const { items } = await scene.client.list(ref, { namespace: "default" });
    return Object.fromEntries(
      items.map(({ metadata, ...one }) => [
        metadata.name,
        ReconcileFunction.status.parse(one["status"] ?? {}).follows?.["configmaps"],
      ]),
    );
  };
  await poison("evil");
  await scene.put("one");
  await woken("victim", "one");
  expect(await stated()).toMatchObject({
    victim: { state: "Following" },
    evil: {
      state: "Degraded",
      reason: "QueueBehind",
      message: expect.stringMatching(/`control`.*SCHEMA 999/) as string,
    },
  });
  await heal("evil");
  await caughtUp(running);
  expect(await stated()).toMatchObject({ evil: { state: "Following" } });
});

it("a wake that the queue refuses, and that cannot be recorded either, is not lost", async () => {
  const running = await scene.startBridge();
  running.bridge.register(both);
  await follows(running);
  const [stream = ""] = await scene.admin.keys("{drover-stream:*}:stream");
  const behind = stream.replace(/stream$/, "behind");
  await scene.admin.hset(
    behind,
    queueOf({ name: "evil" }),
    '{"since":1,"count":"none that can be counted on"}',
  );
  await poison("evil");
  await scene.put("one");
  await until(() => {
    const [{ reflector } = expect.fail("It follows nothing.")] = running.bridge.followed();
    expect(reflector.status().failures).toBeGreaterThan(0);
  });
  await scene.admin.del(behind);
  await heal("evil");
  await until(async () => expect(await scene.wakes("evil", "one")).toBeGreaterThan(0));
  await caughtUp(running);
});

it("another bridge goes on with what is owed when the one that recorded it is killed, before and after the queue heals", async () => {
  await scene.put("still");
  const first = await scene.startBridge();
  first.bridge.register(both);
  await woken("evil", "still");
  await poison("evil");
  await scene.put("one");
  await woken("victim", "one");
  await until(() => expect(lags(first)).toHaveLength(1));
  const since = lags(first)[0]!.since;
  first.kill();
  const second = await scene.startBridge();
  second.bridge.register(both);
  await follows(second);
  // It does not count as whole, nor is anything dropped, though the queue has not answered this bridge.
  expect(second.bridge.problems()).toEqual([]);
  await until(() => expect(lags(second)).toHaveLength(1));
  expect(Math.abs(lags(second)[0]!.since - since)).toBeLessThan(2_000);
  await scene.put("two");
  await woken("victim", "two");
  second.kill();
  await heal("evil");
  const third = await scene.startBridge();
  third.bridge.register(both);
  for (const name of ["one", "two"])
    await until(async () => expect(await scene.wakes("evil", name)).toBeGreaterThan(0));
  await caughtUp(third);
  for (const queue of ["evil", "victim"]) expect(await scene.wakes(queue, "still")).toBe(1);
});

it("queues that fall behind at different times each get what they missed", async () => {
  const others = [testRegistration("late"), ...both];
  const running = await scene.startBridge();
  running.bridge.register(others);
  await follows(running);
  await poison("evil");
  await scene.put("one");
  await woken("late", "one");
  await poison("late");
  await scene.put("two");
  await woken("victim", "two");
  await until(() =>
    expect(
      lags(running)
        .map(({ queue }) => queue)
        .sort(),
    ).toEqual(["-/evil/-", "-/late/-"]),
  );
  await heal("late");
  await until(async () => expect(await scene.wakes("late", "two")).toBeGreaterThan(0));
  expect(await scene.wakes("late", "one")).toBe(1);
  await until(() => expect(lags(running).map(({ queue }) => queue)).toEqual(["-/evil/-"]));
  await heal("evil");
  for (const name of ["one", "two"])
    await until(async () => expect(await scene.wakes("evil", name)).toBeGreaterThan(0));
  await caughtUp(running);
});

it("what is looked up for a queue that is behind is found when it heals", async () => {
  const secrets = { ...coreKind("Secret", "secrets"), names: { referencedBy: "data.secret" } };
  const running = await scene.startBridge();
  running.bridge.register([testRegistration("evil", { watches: [secrets] }), testRegistration("victim")]);
  await follows(running, 2);
  await scene.put("before", { data: { secret: "s" } });
  await woken("evil", "before");
  await poison("evil");
  await scene.put("during", { data: { secret: "s" } });
  await woken("victim", "during");
  await scene.put("s", { data: { a: "YQ==" } }, "secrets");
  await until(() => expect(lags(running)).toHaveLength(2));
  expect(await scene.wakes("evil", "before")).toBe(1);
  await heal("evil");
  await caughtUp(running);
  const secretVersion = async (name: string) => (await scene.entry("evil", name))["version:secrets"];
  for (const name of ["before", "during"]) expect(await secretVersion(name)).toMatch(/^\d+$/);
});

it("nothing is kept for a function that goes while its queue is behind", async () => {
  const running = await scene.startBridge();
  running.bridge.register(both);
  await follows(running);
  await poison("evil");
  await scene.put("one");
  await woken("victim", "one");
  await until(async () => expect(await scene.admin.keys("{drover-stream:*:owed:-/evil/-")).toHaveLength(1));
  running.bridge.register([testRegistration("victim")]);
  await until(async () => expect(await scene.admin.keys("{drover-stream:*:owed:*")).toEqual([]));
  expect(await scene.admin.hgetall("{drover-bridges}:origins")).not.toHaveProperty("-/evil/-");
  await scene.put("two");
  await woken("victim", "two");
  running.bridge.register([]);
  await until(async () => expect(await scene.admin.keys("{drover-stream:*")).toEqual([]));
});

it("a queue that has never answered keeps no other waiting, and no kind from being forgotten", async () => {
  const running = await scene.startBridge();
  running.bridge.register([testRegistration("gone", { for: coreKind("Secret", "secrets") })]);
  await follows(running);
  await poison("evil");
  running.bridge.register(both);
  await scene.put("one");
  await woken("victim", "one");
  await until(() => expect(running.bridge.problems()).toEqual([]));
  expect(running.bridge.notes().join()).toMatch(/the queue of evil does not answer: .*SCHEMA/);
  await until(async () => expect(await scene.admin.keys("{drover-stream:*secrets*")).toEqual([]));
  await heal("evil");
  await woken("evil", "one");
});

it("a queue that is refused memory or permission is left behind alone, as one that is poisoned", async () => {
  const running = await scene.startBridge();
  running.bridge.register(both);
  await follows(running);
  await scene.admin.call(
    "ACL",
    "SETUSER",
    "bridge",
    "resetkeys",
    "~{drover:-/victim/-}*",
    "~{drover-stream:*}*",
    "~{drover-bridges}*",
  );
  await scene.put("one");
  await woken("victim", "one");
  await until(() =>
    expect(lags(running)).toMatchObject([
      { queue: "-/evil/-", why: expect.stringMatching(/ACL|NOPERM/) as string },
    ]),
  );
  await scene.admin.call("ACL", "SETUSER", "bridge", "~*");
  await woken("evil", "one");
  await caughtUp(running);
});
