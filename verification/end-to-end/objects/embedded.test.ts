import { redisUserRules } from "@drover/queue";
import { expect, it } from "vitest";
import { object, withMetadata } from "../../harness/manifests.ts";
import { Gadget, mapFor } from "../functions/gadgets.ts";
import { crash, type Started } from "../../harness/start-process.ts";
import { bucket, eventually, isReady, metricsOf, worldOfFile } from "../stage/world.ts";

const world = await worldOfFile(Gadget);
const admin = await world.connectRedis();
const controllers = ["-/gadgets/-", "-/gadgets/-/names/configmaps"];
const rules = redisUserRules({ role: "embedded", controllers });
await admin.call("ACL", "SETUSER", "gadgets", ...rules.split(" "), ">secret");

/** A function with a bridge in its process, as the Redis user that the rules make. */
const start = (awaited = "; watching"): Promise<Started> =>
  world.startProcess("gadgets", "verification/end-to-end/functions/embedded-gadgets.ts", awaited, {
    DROVER_REDIS_URL: world.redis.url.replace("//", "//gadgets:secret@"),
    DROVER_LEASE: "1s",
    DROVER_LEASE_RENEWAL: "300ms",
  });
const gadget = (name: string) => object(Gadget, name, {});
const areReady = async (...names: readonly string[]): Promise<void> => {
  for (const name of names) await world.cluster.apply(gadget(name));
  for (const name of names) await world.until(gadget(name), isReady);
};
/** How many streams it follows. */
const follows = async ({ url }: Started): Promise<number> =>
  ((await metricsOf({ url })).match(/^drover_stream_synced/gm) ?? []).length;
const wakes = async (name: string): Promise<number> =>
  Number(await admin.hget(`{drover:-/gadgets/-}:key:default/${name}`, "wakes"));

it("a function with a bridge in its process needs no other, and several share the work", async () => {
  const first = await start();
  await areReady("one");
  await eventually(async () => expect((await fetch(`${first.url}/readyz`)).status).toBe(200));
  expect(await metricsOf(first)).toMatch(/^drover_queue_keys\{controller="gadgets",state="due"\} 0$/m);

  // The mapping in code has a queue of its own.
  const before = await wakes("one");
  await world.cluster.apply(mapFor("one"));
  await eventually(async () => expect(await wakes("one")).toBeGreaterThan(before));

  // Each kind is followed once; what one that dies has followed, the other takes up.
  const second = await start("Serving");
  const both = [first, second];
  await eventually(async () => {
    const counts = await Promise.all(both.map(follows));
    expect(counts.reduce((a, b) => a + b)).toBe(2);
  });
  await crash(first);
  await areReady("two", "three");
  await eventually(async () => expect(await follows(second)).toBe(2));
  expect(await second.stop()).toMatchObject({ code: 0 });
  expect(await admin.call("ACL", "LOG")).toEqual([]);
});

it("beside the cluster's bridges it takes nothing away from them, nor they from it", async () => {
  const bridge = await world.startBridge();
  await world.startWorker();
  const embedded = await start();
  await world.applyReady(bucket("theirs"));
  await areReady("ours");
  await bridge.stop();
  await embedded.stop();

  // The other functions kept their watch positions.
  await world.cluster.apply(bucket("theirs", { pollInterval: "1h" }));
  await Promise.all([
    world.startBridge({ awaited: "Resumed at the stored position; watching" }),
    start("Resumed at the stored position; watching"),
  ]);
  await world.until(bucket("theirs"), isReady);
  await areReady("more");
});

it("an object that is paused has no run here either, also where Redis is emptied", async () => {
  // The one of the test before goes on, and may follow both kinds.
  const process = await start("Serving");
  const annotated = (paused: "true" | null) =>
    withMetadata(gadget("paused"), { annotations: { "drover.dev/paused": paused } });
  await world.cluster.apply(annotated("true"));
  await areReady("before-the-loss");
  await admin.flushall();
  await areReady("after-the-loss");
  expect((await world.cluster.get(gadget("paused")))?.status).not.toHaveProperty("conditions");
  await world.cluster.apply(annotated(null));
  await world.until(gadget("paused"), isReady);
  expect(await process.stop()).toMatchObject({ code: 0 });
});
