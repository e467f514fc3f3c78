import { ReconcileFunction, reconcileFunctionOf } from "@drover/controller";
import { expect, it } from "vitest";
import { z } from "zod";
import { crash } from "../../harness/start-process.ts";
import { inDefault, object } from "../../harness/manifests.ts";
import { Gadget, gadgetController } from "../functions/gadgets.ts";
import { eventually, isReady, ofCluster, queueOf, worldOfFile } from "../stage/world.ts";

const world = await worldOfFile(ReconcileFunction, Gadget);
const redis = await world.connectRedis();
const startBridge = () => world.startBridge({ functions: ofCluster, awaited: "Serving" });
let bridge = await startBridge();

const manifest = inDefault(reconcileFunctionOf(gadgetController));
const registration = (campaign?: object) => ({
  ...manifest,
  spec: { ...manifest.spec, ...(campaign && { campaign }) },
});
const names = Array.from({ length: 40 }, (_, n) => `g${n}`);
const gadget = (name: string) => object(Gadget, name, {});
const ledger = async (field: string) => {
  const queue = await queueOf(world, registration());
  return Promise.all(
    names.map(async (name) => Number(await redis.hget(`{drover:${queue}}:key:default/${name}`, field))),
  );
};
const startFunction = () =>
  world.startFunction("verification/end-to-end/functions/gadgets.ts", { DROVER_FUNCTION: "default/gadgets" });
const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0);
const statusSchema = z.object({ status: ReconcileFunction.status.optional() });
const progress = async () =>
  statusSchema.parse(await world.cluster.get(registration())).status?.campaign ?? {
    name: "",
    state: "",
    left: -1,
  };

it("a campaign reconciles every object once more, though processes are killed, and reports its progress", async () => {
  const { cluster } = world;
  for (const name of names) await cluster.apply(gadget(name));
  await cluster.apply(registration());
  let worker = await startFunction();
  for (const name of names) await world.until(gadget(name), isReady);
  const before = sum(await ledger("wakes"));

  const first = { name: "first", perSecond: 20 };
  await cluster.apply(registration({ ...first, paused: true }));
  await eventually(async () =>
    expect(await progress()).toMatchObject({ state: "Paused", total: 40, left: 40 }),
  );
  expect(sum(await ledger("wakes"))).toBe(before);

  const began = Date.now();
  await cluster.apply(registration({ ...first, paused: false }));
  await eventually(async () => expect((await progress()).left).toBeLessThan(40));
  await crash(bridge);
  expect((await progress()).state).toBe("Running");
  bridge = await startBridge();
  await eventually(async () => expect(await progress()).toMatchObject({ state: "Done", left: 0 }));
  expect(Math.min(...(await ledger("ranAt")))).toBeGreaterThanOrEqual(began);
  // Those that had run were passed over, but for the last twenty that were woken.
  expect(sum(await ledger("wakes")) - before).toBeLessThanOrEqual(names.length + 20);

  // Not done before all have run; and the same campaign does not begin again.
  await worker.stop();
  const second = sum(await ledger("wakes"));
  await cluster.apply(registration({ name: "second", perSecond: 1_000 }));
  await eventually(async () => expect(sum(await ledger("wakes")) - second).toBeGreaterThanOrEqual(40));
  await eventually(async () => expect(await progress()).toMatchObject({ name: "second", state: "Running" }));
  worker = await startFunction();
  await eventually(async () => expect(await progress()).toMatchObject({ name: "second", state: "Done" }));
  const done = await progress();
  const wakes = sum(await ledger("wakes"));
  await bridge.stop();
  bridge = await startBridge();
  await world.applyReady(gadget("late"));
  expect(await progress()).toEqual(done);
  expect(sum(await ledger("wakes"))).toBe(wakes);
}, 120_000);
