import { defineController, defineResource } from "@drover/controller";
import { expect, it } from "vitest";
import { z } from "zod";
import { testCluster } from "../test-cluster.ts";
import type { Manifest } from "../kubectl/user.ts";
import { alteredManifest } from "./altered-manifest.ts";

const Cup = defineResource({
  group: "example.com",
  version: "v1",
  kind: "Cup",
  scope: "Namespaced",
  spec: z.object({
    colour: z.enum(["red", "blue"]),
    name: z.string().regex(/^[a-z]{1,3}$/),
    size: z.int().min(1).max(2),
    isFull: z.boolean(),
    marks: z.array(z.string()),
  }),
  status: z.object({}),
});
const cups = defineController({ for: Cup, reconcile: () => Promise.resolve(undefined) });
const pod = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image: "web:1" }] } };

it.each<[Manifest, object]>([
  [
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "a", labels: { app: "web" } },
      data: { a: "1", b: "" },
    },
    { metadata: { labels: { app: "web" } }, data: { a: "1-of-another-owner", b: "-of-another-owner" } },
  ],
  [
    { apiVersion: "v1", kind: "Secret", metadata: { name: "a" }, data: { a: "YQ==" } },
    { data: { a: "YW5vdGhlciBvd25lcidz" } },
  ],
  [
    {
      apiVersion: "apps/v1",
      kind: "ReplicaSet",
      metadata: { name: "a" },
      spec: { replicas: 2, selector: { matchLabels: { app: "web" } }, template: pod },
    },
    {
      spec: {
        replicas: 3,
        selector: { matchLabels: { app: "web" } },
        template: {
          metadata: { labels: { app: "web" } },
          spec: { containers: [{ name: "web-of-another-owner", image: "web:1-of-another-owner" }] },
        },
      },
    },
  ],
  [
    {
      apiVersion: "example.com/v1",
      kind: "Cup",
      metadata: { name: "a" },
      spec: { colour: "red", name: "abc", size: 2, isFull: true, marks: ["x"] },
    },
    { spec: { colour: "red", name: "abc", size: 1, isFull: false, marks: ["x-of-another-owner"] } },
  ],
])("alters every value that the API server accepts: %j", async (manifest, expected) => {
  await using cluster = await testCluster(() => cups);
  const other = await alteredManifest(cluster, manifest);
  expect(other).toMatchObject(expected);
  expect(await cluster.get(manifest, "a")).toBeUndefined();
  await cluster.apply(other);
});
