import { customResourceDefinition, queueOf, ReconcileFunction, silentLog } from "@drover/controller";
import { installCrd, refOf } from "@drover/kube";
import { afterEach, beforeEach, expect, it } from "vitest";
import {
  configMapKind,
  controlOf,
  coreKind,
  testRegistration,
  openBridgeScene,
  type RunningBridge,
  type BridgeScene,
  until,
} from "./bridge-scene.fixture.ts";
import { writeFollowStatus } from "./registration/follow-status.ts";

let scene: BridgeScene;
beforeEach(async () => (scene = await openBridgeScene()));
afterEach(() => scene[Symbol.asyncDispose]());

const woken = (queue: string, name: string, times = 1) => scene.woken(queue, name, times);
const lags = ({ bridge }: RunningBridge) => bridge.followed().flatMap((stream) => stream.lags());
/** A write that the Redis user of a function may make to its own queue. */
const poison = async (queue: string) => (await scene.asFunction(queue)).hset(controlOf(queue), "schema", 999);
const heal = (queue: string) => scene.admin.hdel(controlOf(queue), "schema");
const both = [testRegistration("evil"), testRegistration("victim")];

it("a queue that its function has poisoned stops no other, and gets exactly the wakes that it missed", async () => {
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
  for (const name of ["one", "two", "three"]) await scene.woken("evil", name);
  await scene.caughtUp(running.bridge);
  const version = async (queue: string, name: string) =>
    (await scene.entry(queue, name))["version:configmaps"];
  for (const name of ["one", "two", "three"])
    expect(await version("evil", name)).toBe(await version("victim", name));
  expect(await scene.wakes("evil", "still")).toBe(1);
  await scene.put("four");
  await woken("evil", "four");
});

it("a queue that accepts no wakes is reported in its function's status, and in no other", async () => {
  await installCrd(scene.client, { ...customResourceDefinition(ReconcileFunction) });
  const object = (name: string) => ({
    metadata: { name, namespace: "default" },
    spec: { for: configMapKind },
  });
  const ref = refOf(ReconcileFunction);
  const objects = await Promise.all(["evil", "victim"].map((name) => scene.client.create(ref, object(name))));
  const running = await scene.startFollowing(both);
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
  await scene.caughtUp(running.bridge);
  expect(await stated()).toMatchObject({ evil: { state: "Following" } });
});

it("a wake that the queue refuses and that cannot be recorded is not lost", async () => {
  const running = await scene.startFollowing(both);
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
    const [{ reflector } = expect.fail("The bridge follows no stream.")] = running.bridge.followed();
    expect(reflector.status().failures).toBeGreaterThan(0);
  });
  await scene.admin.del(behind);
  await heal("evil");
  await scene.woken("evil", "one");
  await scene.caughtUp(running.bridge);
});

it("another bridge delivers the owed wakes of a killed one, before and after the queue is healed", async () => {
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
  const second = await scene.startFollowing(both);
  // The queue is behind, and nothing is dropped, though the queue has not replied to this bridge.
  expect(second.bridge.problems()).toEqual([]);
  await until(() => expect(lags(second)).toHaveLength(1));
  expect(Math.abs(lags(second)[0]!.since - since)).toBeLessThan(2_000);
  await scene.put("two");
  await woken("victim", "two");
  second.kill();
  await heal("evil");
  const third = await scene.startBridge();
  third.bridge.register(both);
  for (const name of ["one", "two"]) await scene.woken("evil", name);
  await scene.caughtUp(third.bridge);
  for (const queue of ["evil", "victim"]) expect(await scene.wakes(queue, "still")).toBe(1);
});

it("queues that fall behind at different times each get the wakes that they missed", async () => {
  const others = [testRegistration("late"), ...both];
  const running = await scene.startFollowing(others);
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
  await scene.woken("late", "two");
  expect(await scene.wakes("late", "one")).toBe(1);
  await until(() => expect(lags(running).map(({ queue }) => queue)).toEqual(["-/evil/-"]));
  await heal("evil");
  for (const name of ["one", "two"]) await scene.woken("evil", name);
  await scene.caughtUp(running.bridge);
});

it("lookups for a queue that is behind are repeated when it is healed", async () => {
  const secrets = { ...coreKind("Secret", "secrets"), names: { referencedBy: "data.secret" } };
  const running = await scene.startFollowing(
    [testRegistration("evil", { watches: [secrets] }), testRegistration("victim")],
    2,
  );
  await scene.put("before", { data: { secret: "s" } });
  await woken("evil", "before");
  await poison("evil");
  await scene.put("during", { data: { secret: "s" } });
  await woken("victim", "during");
  await scene.put("s", { data: { a: "YQ==" } }, "secrets");
  await until(() => expect(lags(running)).toHaveLength(2));
  expect(await scene.wakes("evil", "before")).toBe(1);
  await heal("evil");
  await scene.caughtUp(running.bridge);
  const secretVersion = async (name: string) => (await scene.entry("evil", name))["version:secrets"];
  for (const name of ["before", "during"]) expect(await secretVersion(name)).toMatch(/^\d+$/);
});

it("the records of a removed function are deleted, even if its queue is behind", async () => {
  const running = await scene.startFollowing(both);
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

it("a queue that has never replied delays no other, and no deletion of an unused stream", async () => {
  const running = await scene.startFollowing([
    testRegistration("gone", { for: coreKind("Secret", "secrets") }),
  ]);
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

it("only the queue for which Redis refuses a permission falls behind", async () => {
  const running = await scene.startFollowing(both);
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
  await scene.caughtUp(running.bridge);
});
