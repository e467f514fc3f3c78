import type { TiedProcess } from "@drover/local-servers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bucket, conditionOf, eventually, isGone, isReady, startWorld, type World } from "./world.ts";

let world: World;
let bridge: TiedProcess;
beforeAll(async () => {
  world = await startWorld();
  [bridge] = await Promise.all([world.startBridge(), world.startWorker()]);
});
afterAll(() => world.stop());

describe("a Bucket", () => {
  it("becomes a bucket that carries its owner's uid; edits, drift and deletion follow", async () => {
    const { cluster, truth } = world;
    const photos = bucket("photos", { versioning: "Enabled", tags: { team: "a" }, pollInterval: "1s" });
    await cluster.apply(photos);
    const object = await world.until(photos, isReady);
    expect(await truth.bucket("photos")).toMatchObject({
      versioning: "Enabled",
      tags: { team: "a", "drover.dev/owner-uid": object?.metadata.uid },
    });

    await cluster.apply({
      ...photos,
      spec: { ...(photos["spec"] as object), versioning: "Suspended", tags: { team: "b" } },
    });
    await eventually(async () =>
      expect(await truth.bucket("photos")).toMatchObject({ versioning: "Suspended", tags: { team: "b" } }),
    );

    await truth.removeBucket("photos");
    await eventually(async () => expect(await truth.bucket("photos")).toMatchObject({ tags: { team: "b" } }));

    await cluster.remove(photos);
    await world.until(photos, isGone);
    expect(await truth.bucket("photos")).toBeUndefined();
  });

  it("that is not empty waits, says why, and goes once it is empty", async () => {
    const { cluster, truth } = world;
    const full = bucket("full");
    await cluster.apply(full);
    await world.until(full, isReady);
    await truth.put("full", "precious");
    await cluster.remove(full);
    const waiting = await world.until(full, (object) => conditionOf(object)?.reason === "BucketNotEmpty");
    expect(conditionOf(waiting)?.message).toMatch(/emptyOnDelete/);
    expect(await truth.bucket("full")).toBeDefined();
    await truth.remove("full", "precious");
    // A change of the object pierces the wait.
    await cluster.apply({ ...full, metadata: { ...full.metadata, labels: { emptied: "true" } } as never });
    await world.until(full, isGone);
    expect(await truth.bucket("full")).toBeUndefined();
  });

  it("that is to be retained leaves its bucket", async () => {
    const { cluster, truth } = world;
    const kept = bucket("kept", { onDelete: "Retain" });
    await cluster.apply(kept);
    await world.until(kept, isReady);
    await cluster.remove(kept);
    await world.until(kept, isGone);
    expect((await truth.bucket("kept"))?.tags).not.toHaveProperty("drover.dev/owner-uid");
  });

  it("is Ready again after Redis was killed in between", async () => {
    const { cluster, redis, truth } = world;
    await redis.kill();
    const late = bucket("late");
    await cluster.apply(late);
    await redis.restart();
    await world.until(late, isReady);
    expect(await truth.bucket("late")).toBeDefined();
  });

  it("gets nothing from a bridge that was told to stop, and everything from the next one", async () => {
    const { cluster, truth } = world;
    expect(await bridge.stop()).toMatchObject({ code: 0 });
    const missed = bucket("missed");
    await cluster.apply(missed);
    bridge = await world.startBridge();
    await world.until(missed, isReady);
    expect(await truth.bucket("missed")).toBeDefined();
  });
});
