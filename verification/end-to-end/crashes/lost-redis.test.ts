import { startRedis } from "@drover/local-servers";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Started } from "../../harness/start-process.ts";
import { bucket, isReady, startWorld, type World } from "../stage/world.ts";

let world: World;
let bridge: Started;
beforeAll(async () => {
  world = await startWorld();
  bridge = await world.startBridge();
  const worker = await world.startWorker();
  await world.cluster.apply(before);
  await world.until(before, isReady);
  await worker.stop();
});
afterAll(() => world.stop());

const quiet = (name: string, team = "a") => bucket(name, { tags: { team }, pollInterval: "1h" });
const before = quiet("before");
/** How many wakes the bridge has told to queues. */
const wakes = async (): Promise<number> => {
  const text = await (await fetch(`${bridge.url}/metrics`)).text();
  return Number(/^drover_stream_wakes_total\{.*\} (\d+)/m.exec(text)?.[1] ?? 0);
};

it("what was told, and then lost with an old dump, is told again: the position was lost with it", async () => {
  const { cluster, redis } = world;
  const dump = await redis.snapshot();
  const told = await wakes();
  await cluster.apply(quiet("lost"));
  await cluster.apply(quiet("before", "b"));
  await expect.poll(wakes).toBe(told + 2);
  await redis.kill();
  await redis.restartFrom(dump);
  const worker = await world.startWorker();
  await world.until(quiet("lost"), isReady);
  await world.until(quiet("before", "b"), isReady);
  await worker.stop();
});

it("a Redis that was emptied is told everything, also of what nobody has changed", async () => {
  const { redis } = world;
  const told = await wakes();
  await redis.kill();
  await redis.restartFrom(await emptied());
  await expect.poll(wakes, { timeout: 30_000 }).toBeGreaterThanOrEqual(told + 2);
  const worker = await world.startWorker();
  await world.cluster.apply(quiet("before", "c"));
  await world.until(quiet("before", "c"), isReady);
  await worker.stop();
});

/** A dump with nothing in it. */
async function emptied() {
  const empty = await startRedis({ persistence: true, dir: `${world.folder}/empty` });
  const dump = await empty.snapshot();
  await empty.stop();
  return dump;
}
