import { startRedis } from "@drover/local-servers";
import { expect, it } from "vitest";
import { bucket, isReady, metricsOf, worldOfFile } from "../stage/world.ts";

const world = await worldOfFile();
const quiet = (name: string, team = "a") => bucket(name, { tags: { team }, pollInterval: "1h" });
const bridge = await world.startBridge();
const first = await world.startWorker();
await world.applyReady(quiet("before"));
await first.stop();

/** Number of wakes that the bridge has added to queues. */
const wakes = async (): Promise<number> => {
  const text = await metricsOf(bridge);
  return Number(/^drover_stream_wakes_total\{.*\} (\d+)/m.exec(text)?.[1] ?? 0);
};

it("wakes that were lost with an old dump are sent again, because the watch position was lost with them", async () => {
  const { cluster, redis } = world;
  const dump = await redis.snapshot();
  const sent = await wakes();
  await cluster.apply(quiet("lost"));
  await cluster.apply(quiet("before", "b"));
  await expect.poll(wakes).toBe(sent + 2);
  await redis.kill();
  await redis.restartFrom(dump);
  const worker = await world.startWorker();
  await world.until(quiet("lost"), isReady);
  await world.until(quiet("before", "b"), isReady);
  await worker.stop();
});

it("after Redis was emptied, every object is woken, unchanged ones too", async () => {
  const { redis } = world;
  const sent = await wakes();
  await redis.kill();
  await redis.restartFrom(await emptied());
  await expect.poll(wakes, { timeout: 30_000 }).toBeGreaterThanOrEqual(sent + 2);
  const worker = await world.startWorker();
  await world.applyReady(quiet("before", "c"));
  await worker.stop();
});

/** A dump with nothing in it. */
async function emptied() {
  const empty = await startRedis({ persistence: true, dir: `${world.folder}/empty` });
  const dump = await empty.snapshot();
  await empty.stop();
  return dump;
}
