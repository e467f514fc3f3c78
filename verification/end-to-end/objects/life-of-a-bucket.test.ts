import { describe, expect, it } from "vitest";
import { z } from "zod";
import { withMetadata } from "../../harness/manifests.ts";
import type { Started } from "../../harness/start-process.ts";
import { bucket, conditionOf, eventually, isGone, isReady, worldOfFile } from "../stage/world.ts";

const world = await worldOfFile();
let bridge = await world.startBridge();
const worker = await world.startWorker();

const eventList = z.object({
  items: z.array(
    z.object({
      type: z.string(),
      reason: z.string(),
      note: z.string(),
      regarding: z.object({ name: z.string() }),
    }),
  ),
});

describe("a Bucket", () => {
  it("becomes a bucket that carries its owner's uid; edits, drift and deletion follow", async () => {
    const { cluster, truth } = world;
    const photos = bucket("photos", { versioning: "Enabled", tags: { team: "a" }, pollInterval: "1s" });
    const object = await world.applyReady(photos);
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

    await world.removed(photos);
    expect(await truth.bucket("photos")).toBeUndefined();
  });

  it("is not woken by what its controller writes to it", async () => {
    const quiet = bucket("quiet");
    await world.applyReady(quiet);
    await world.cluster.apply(withMetadata(quiet, { labels: { some: "body" } }));
    // In the order of events: it came, its finalizer and its status did, and the label.
    const redis = await world.connectRedis();
    const wakes = () => redis.hget("{drover:-/buckets.s3.drover.dev/-}:key:default/quiet", "wakes");
    await eventually(async () => expect(Number(await wakes())).toBeGreaterThan(1));
    expect(await wakes()).toBe("2");
  });

  it("has Events that are counted and not repeated", async () => {
    const { cluster } = world;
    const impossible = bucket("impossible", { bucketName: "photos2", adopt: "Never", pollInterval: "1s" });
    await world.applyReady(bucket("photos2"));
    await cluster.apply(impossible);
    await world.until(impossible, (object) => conditionOf(object)?.status === "False");
    await eventually(async () => {
      const { items } = eventList.parse(
        await cluster.read("/apis/events.k8s.io/v1/namespaces/default/events"),
      );
      const about = (name: string) => items.filter(({ regarding }) => regarding.name === name);
      expect(about("photos2").map(({ reason }) => reason)).toContain("Reconciled");
      expect(about("photos2").filter(({ type }) => type === "Warning")).toEqual([]);
      const warnings = about("impossible").filter(({ type }) => type === "Warning");
      expect(warnings.length).toBe(new Set(warnings.map(({ note }) => note)).size);
      expect(warnings.length).toBeGreaterThan(0);
    });
  });

  it("that is not empty waits with a reason, and is deleted once it is empty", async () => {
    const { cluster, truth } = world;
    const full = bucket("full");
    await world.applyReady(full);
    await truth.put("full", "precious");
    await cluster.remove(full);
    const waiting = await world.until(full, (object) => conditionOf(object)?.reason === "BucketNotEmpty");
    expect(conditionOf(waiting)?.message).toMatch(/emptyOnDelete/);
    expect(await truth.bucket("full")).toBeDefined();
    await truth.remove("full", "precious");
    // A change of the object pierces the wait.
    await cluster.apply(withMetadata(full, { labels: { emptied: "true" } }));
    await world.until(full, isGone);
    expect(await truth.bucket("full")).toBeUndefined();
  });

  it("that is to be retained leaves its bucket", async () => {
    const { truth } = world;
    const kept = bucket("kept", { onDelete: "Retain" });
    await world.applyReady(kept);
    await world.removed(kept);
    expect((await truth.bucket("kept"))?.tags).not.toHaveProperty("drover.dev/owner-uid");
  });

  it("is not woken by a stopped bridge; the next bridge sends every missed wake", async () => {
    const { cluster, truth } = world;
    expect(await bridge.stop()).toMatchObject({ code: 0 });
    const missed = bucket("missed");
    await cluster.apply(missed);
    bridge = await world.startBridge();
    await world.until(missed, isReady);
    expect(await truth.bucket("missed")).toBeDefined();
  });
});

describe("every process", () => {
  const get = async (of: Started, path: string) => {
    const response = await fetch(of.url + path);
    return { status: response.status, text: await response.text() };
  };

  const idle = 'drover_queue_keys{controller="buckets.s3.drover.dev",state="due"} 0';

  it("answers its probes and serves its metrics", async () => {
    for (const each of [bridge, worker]) {
      expect(await get(each, "/healthz")).toMatchObject({ status: 200 });
      await eventually(async () => expect(await get(each, "/readyz")).toMatchObject({ status: 200 }));
      // Nothing is due once all is settled.
      await eventually(async () => expect((await get(each, "/metrics")).text).toContain(idle));
    }
    expect((await get(worker, "/metrics")).text).toMatch(/drover_runs_total\{.*verdict="done"\} [1-9]/);
    expect((await get(worker, "/metrics")).text).toMatch(
      /drover_run_arrivals_total\{.*by="assigned",object="live"\} [1-9]/,
    );
    expect((await get(bridge, "/metrics")).text).toContain(
      'drover_stream_synced{kind="buckets.s3.drover.dev"} 1',
    );
  });

  it("stays alive and reports why it is not ready while Redis is down; a Bucket made meanwhile becomes Ready", async () => {
    await world.redis.kill();
    await world.cluster.apply(bucket("late"));
    for (const each of [bridge, worker]) {
      await eventually(async () => {
        const { status, text } = await get(each, "/readyz");
        expect({ status, text }).toMatchObject({
          status: 503,
          text: expect.stringContaining("redis") as string,
        });
      });
      expect(await get(each, "/healthz")).toMatchObject({ status: 200 });
      expect((await get(each, "/metrics")).text).not.toContain('state="due"');
    }
    await world.redis.restart();
    for (const each of [bridge, worker]) {
      await eventually(async () => expect(await get(each, "/readyz")).toMatchObject({ status: 200 }));
    }
    await world.until(bucket("late"), isReady);
    expect(await world.truth.bucket("late")).toBeDefined();
  });
});
