import { expect, it } from "vitest";
import { withMetadata } from "../../harness/manifests.ts";
import { bucket, conditionOf, eventually, isGone, isReady, metricsOf, worldOfFile } from "../stage/world.ts";

const world = await worldOfFile();
await world.startBridge();
const worker = await world.startWorker();

const annotated = (name: string, annotations: Readonly<Record<string, string | null>>, spec: object = {}) =>
  withMetadata(bucket(name, { pollInterval: "1h", ...spec }), { annotations });
const held = (name: string, spec: object = {}) => annotated(name, { "drover.dev/paused": "true" }, spec);
const free = (name: string, spec: object = {}) => annotated(name, { "drover.dev/paused": null }, spec);
/** The bucket of an object that was made later is there: what came before has had its turn. */
const afterAnother = async (name: string): Promise<void> => {
  await world.applyReady(free(name));
};
const pausedKeys = async (): Promise<number> => {
  const text = await metricsOf(worker);
  return Number(/^drover_queue_keys\{.*state="paused".*\} (\d+)/m.exec(text)?.[1]);
};

it("a paused object has no run, even after Redis was emptied, until it is resumed", async () => {
  const { cluster, truth } = world;
  await cluster.apply(held("new"));
  await afterAnother("changed");
  await cluster.apply(held("changed", { tags: { team: "b" } }));
  await afterAnother("deleted");
  await cluster.apply(held("deleted"));
  await cluster.remove(held("deleted"));
  await afterAnother("first");
  await eventually(async () => expect(await pausedKeys()).toBe(3));
  const before = await Promise.all(
    [held("new"), held("changed"), held("deleted")].map((one) => cluster.get(one)),
  );
  expect(before[0]?.metadata.finalizers).toBeUndefined();
  expect(before[2]?.metadata.deletionTimestamp).toBeDefined();
  expect(await truth.names()).not.toContain("new");

  const admin = await world.connectRedis();
  await admin.flushall();
  // Every key is woken again, in a queue without a record of the pause.
  await afterAnother("second");
  await eventually(async () => expect(await pausedKeys()).toBe(3));
  // Nothing has written to them: neither to their status nor a finalizer.
  expect(
    await Promise.all([held("new"), held("changed"), held("deleted")].map((one) => cluster.get(one))),
  ).toEqual(before);
  expect(await truth.names()).not.toContain("new");
  expect(await truth.names()).toContain("deleted");

  await Promise.all([cluster.apply(free("new")), cluster.apply(free("changed", { tags: { team: "b" } }))]);
  await world.until(free("new"), isReady);
  await world.until(free("changed"), isReady);
  await cluster.apply(free("deleted"));
  await world.until(free("deleted"), isGone);
  expect(await truth.names()).toContain("new");
  expect(await truth.names()).not.toContain("deleted");
  await eventually(async () => expect(await pausedKeys()).toBe(0));
}, 120_000);

it("a new value of reconcile-at causes a run, also of an object that is parked", async () => {
  const { cluster } = world;
  const [first, twin] = [free("original"), free("twin", { bucketName: "original" })];
  await world.applyReady(first);
  await cluster.apply(twin);
  const parked = await world.until(twin, (object) => conditionOf(object)?.status === "False");
  await world.removed(first);
  // The key is parked: no event reports that the name is free.
  await afterAnother("third");
  expect(await cluster.get(twin)).toEqual(parked);
  await cluster.apply(withMetadata(twin, { annotations: { "drover.dev/reconcile-at": "monday" } }));
  await world.until(twin, isReady);
}, 120_000);
