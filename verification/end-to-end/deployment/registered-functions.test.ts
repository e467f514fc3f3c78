import { ReconcileFunction } from "@drover/controller";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { type Manifest, namespaceNamed, withMetadata } from "../../harness/manifests.ts";
import type { TestObject } from "../stage/test-cluster.ts";
import {
  absentees,
  bucket,
  eventually,
  isReady,
  ofCluster,
  metricsOf,
  queueOf,
  worldOfFile,
} from "../stage/world.ts";

const world = await worldOfFile(ReconcileFunction);
for (const name of ["team-a", "team-b"]) await world.cluster.apply(namespaceNamed(name));
const bridge = await world.startBridge({ functions: ofCluster, awaited: "Serving" });

/** A process of the bucket function, for the ReconcileFunction of a namespace. */
const startFor = (namespace: string, awaited?: string) =>
  world.startWorker({
    ...(awaited !== undefined && { awaited }),
    env: { DROVER_FUNCTION: `${namespace}/buckets.s3.drover.dev` },
  });
const manifest = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.object({ name: z.string() }),
});
const file = new URL("../../../functions/s3-bucket/deploy/function.yaml", import.meta.url);
const registration = (namespace: string, of = "buckets", kind = "Bucket"): Manifest => {
  const text = readFileSync(file, "utf8").replaceAll("buckets", of).replace(`kind: Bucket`, `kind: ${kind}`);
  return withMetadata(manifest.parse(parse(text)), { namespace });
};
const statusSchema = z.object({ status: ReconcileFunction.status.optional() });
const statusOf = (object: TestObject | undefined) => statusSchema.safeParse(object).data?.status;

it("a running bridge follows the kinds of a function that is registered, and reports it in the status", async () => {
  const { cluster } = world;
  const buckets = registration("team-a");
  await cluster.apply(bucket("before"));
  await cluster.apply(buckets);
  await startFor("team-a");
  await world.until(bucket("before"), isReady);
  await world.until(buckets, (it) => statusOf(it)?.follows?.["buckets.s3.drover.dev"]?.state === "Following");

  // A kind that is not served troubles its own controller alone.
  const absent = registration("team-a", "absentees", "Absentee");
  await cluster.apply(absent);
  const state = (it: TestObject | undefined) => statusOf(it)?.follows?.["absentees.s3.drover.dev"];
  const degraded = await world.until(absent, (it) => state(it)?.state === "Degraded");
  expect(state(degraded)).toMatchObject({ reason: "NotServed" });
  const metric = async () => {
    const text = await metricsOf(bridge);
    return /drover_stream_degraded\{kind="absentees.s3.drover.dev"\} (\d)/.exec(text)?.[1];
  };
  await eventually(async () => expect(await metric()).toBe("1"));
  expect((await fetch(`${bridge.url}/readyz`)).status).toBe(200);
  await world.applyReady(bucket("beside"));
  await cluster.apply(absentees);
  await eventually(async () => expect(await metric()).toBe("0"));
  await world.until(absent, (it) => state(it)?.state === "Following");

  // One of the same name in another namespace is another function, which takes over when the older one is deleted.
  const other = registration("team-b");
  await cluster.apply(other);
  await world.until(other, (it) => /An older ReconcileFunction/.test(statusOf(it)?.problem ?? ""));
  const olderQueue = await queueOf(world, buckets);
  await world.removed(buckets);
  await world.until(other, (it) => statusOf(it)?.follows?.["buckets.s3.drover.dev"]?.state === "Following");
  expect(statusOf(await cluster.get(other))?.problem).toBeUndefined();
  expect(await queueOf(world, other)).not.toBe(olderQueue);
  await world.removed(other);
}, 120_000);

it("a process ends when its function is deleted; the next process serves the function that replaces it", async () => {
  const { cluster } = world;
  const buckets = registration("team-b");
  // The function does not exist yet: the process waits, and logs the reason.
  const { url, ...waiting } = await startFor("team-b", "Waiting: there is no");
  expect(await (await fetch(`${url}/readyz`)).text()).toMatch(
    /there is no ReconcileFunction team-b\/buckets\.s3\.drover\.dev\. Apply it/,
  );
  expect(await waiting.stop()).toMatchObject({ code: 0 });

  await cluster.apply(buckets);
  const first = await startFor("team-b");
  const before = await queueOf(world, buckets);
  await cluster.remove(buckets);
  expect(await first.exited).toMatchObject({ code: 1 });
  expect(readFileSync(first.logFile, "utf8")).toMatch(
    /team-b\/buckets[^"]* was deleted. Start the process again to run/,
  );

  await cluster.apply(buckets);
  await startFor("team-b");
  expect(await queueOf(world, buckets)).not.toBe(before);
  await world.applyReady(bucket("after"));
}, 120_000);
