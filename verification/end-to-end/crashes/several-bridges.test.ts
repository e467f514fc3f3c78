import { expect, it } from "vitest";
import { crash, type Started } from "../../harness/start-process.ts";
import { bucket, eventually, metricsOf, worldOfFile } from "../stage/world.ts";

const world = await worldOfFile();
await world.startWorker();

const number = async ({ url }: Started, metric: string): Promise<number | undefined> => {
  const text = await metricsOf({ url });
  const found = new RegExp(`^${metric}\\{kind="buckets.s3.drover.dev"\\} (\\d+)`, "m").exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
};
const holds = async (bridge: Started): Promise<boolean> =>
  (await number(bridge, "drover_stream_synced")) !== undefined;
/** Those that hold the stream; exactly one, once it is settled. */
const holder = async (bridges: readonly Started[]): Promise<Started> => {
  let found: Started | undefined;
  await eventually(async () => {
    const held = await Promise.all(bridges.map(holds));
    const holders = bridges.filter((_, i) => held[i]);
    expect(holders).toHaveLength(1);
    [found] = holders;
  });
  if (found === undefined) throw new Error("No bridge holds the stream.");
  return found;
};
const makeReady = async (name: string, team: string): Promise<void> => {
  const manifest = bucket(name, { tags: { team }, pollInterval: "1h" });
  await world.applyReady(manifest);
};

/** One that joins others need not follow anything. */
const join = (): Promise<Started> => world.startBridge({ awaited: "Serving" });

it("several bridges share the streams, and one that dies or stands still is stood in for", async () => {
  const first = await world.startBridge();
  await makeReady("one", "a");
  const all = [first, ...(await Promise.all([join(), join()]))];

  const dying = await holder(all);
  await crash(dying);
  await makeReady("one", "b");

  const left = all.filter((bridge) => bridge !== dying);
  const stalled = await holder(left);
  stalled.kill("SIGSTOP");
  await makeReady("one", "c");
  await makeReady("two", "a");
  stalled.kill("SIGCONT");
  await holder(left);
  await makeReady("one", "d");
  for (const bridge of left) expect(await bridge.stop()).toMatchObject({ code: 0 });
});

it("a bridge that starts wakes only the keys of objects that have changed", async () => {
  const bridge = await world.startBridge();
  await makeReady("three", "a");
  await bridge.stop();
  const next = await world.startBridge({ awaited: "Resumed at the stored position; watching" });
  await makeReady("three", "b");
  expect(await number(next, "drover_stream_wakes_total")).toBe(1);
});
