import { customResourceDefinition, ReconcileFunction } from "@drover/controller";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import type { Manifest, TestObject } from "./test-cluster.ts";
import { absentees, bucket, isReady, ofCluster, startWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
  await world.cluster.apply({ ...customResourceDefinition(ReconcileFunction) });
  for (const name of ["team-a", "team-b"]) {
    await world.cluster.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
  }
  await world.startWorker();
  await world.startBridge({ functions: ofCluster, awaited: "Serving" });
});
afterAll(() => world.stop());

const manifest = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.object({ name: z.string() }),
});
const file = new URL("../../functions/s3-bucket/deploy/function.yaml", import.meta.url);
const registration = (namespace: string, of = "buckets", kind = "Bucket"): Manifest => {
  const text = readFileSync(file, "utf8").replaceAll("buckets", of).replace(`kind: Bucket`, `kind: ${kind}`);
  const parsed = manifest.parse(parse(text));
  return { ...parsed, metadata: { ...parsed.metadata, namespace } };
};
const statusSchema = z.object({ status: ReconcileFunction.status.optional() });
const says = (object: TestObject | undefined) => statusSchema.safeParse(object).data?.status;

it("a bridge takes up what is registered while it runs, and says how it follows it", async () => {
  const { cluster } = world;
  const buckets = registration("team-a");
  await cluster.apply(bucket("before"));
  await cluster.apply(buckets);
  await world.until(bucket("before"), isReady);
  await world.until(buckets, (it) => says(it)?.follows?.["buckets.s3.drover.dev"]?.state === "Following");

  // A kind that is not served troubles its own controller alone.
  const absent = registration("team-a", "absentees", "Absentee");
  await cluster.apply(absent);
  const state = (it: TestObject | undefined) => says(it)?.follows?.["absentees.s3.drover.dev"];
  const degraded = await world.until(absent, (it) => state(it)?.state === "Degraded");
  expect(state(degraded)).toMatchObject({ reason: "NotServed" });
  await cluster.apply(bucket("beside"));
  await world.until(bucket("beside"), isReady);
  await cluster.apply(absentees);
  await world.until(absent, (it) => state(it)?.state === "Following");

  // The controller's name is taken.
  const other = registration("team-b");
  await cluster.apply(other);
  const refused = await world.until(other, (it) => says(it)?.problem !== undefined);
  expect(says(refused)?.problem).toMatch(/is taken by team-a\/buckets\.s3\.drover\.dev/);

  // Gone, its place is free: everything is told to the one that takes it.
  await cluster.remove(buckets);
  await world.until(other, (it) => it !== undefined && says(it)?.problem === undefined);
  await cluster.apply(bucket("after"));
  await world.until(bucket("after"), isReady);
}, 120_000);
