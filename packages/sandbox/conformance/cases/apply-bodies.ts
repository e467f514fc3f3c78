// Server-side apply: valid and invalid configurations, in JSON and in YAML.
import type { Json, JsonObject } from "../../src/json.ts";
import { bundle, bundlesIn, configMap, configMapsIn } from "../fixtures.ts";
import { apply, caseOf, get, post } from "../steps.ts";
import type { Case } from "../steps.ts";

const map = (data: JsonObject, metadata: JsonObject = {}): JsonObject => configMap("a", { data }, metadata);
const at = `${configMapsIn}/a`;
const of = (spec: JsonObject): JsonObject => bundle("a", { spec });
const bundleAt = `${bundlesIn}/a`;
const short = (value: Json): string => JSON.stringify(value).slice(0, 110);

/** Bodies that a server refuses, or not. */
const bodies: readonly Json[] = [
  {},
  null,
  [],
  "x",
  { apiVersion: "v1" },
  { apiVersion: "v2", kind: "ConfigMap", metadata: { name: "a" } },
  { apiVersion: "v1", kind: "Secret", metadata: { name: "a" } },
  { apiVersion: "v1", kind: "ConfigMap" },
  { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "b" } },
  { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "other" } },
  { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", managedFields: [] } },
  { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", managedFields: null } },
  { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", managedFields: [{}] } },
  map({ x: "1" }, { uid: "c0ffee00-0000-4000-8000-000000000000" }),
  map({ x: "1" }, { resourceVersion: "1" }),
  map({ x: "1" }, { generateName: "a-" }),
  map({}, { labels: { "-": "x" } }),
  map({}, { finalizers: ["e.x/a", "e.x/a"] }),
  map({}, { bogus: 1 }),
  map({ x: 1 }),
  map({ x: null }),
  configMap("a", { bogus: 1 }),
  configMap("a", { data: [] }),
  configMap("a", { data: null }),
  configMap("a", { immutable: "x" }),
];
const bundleBodies: readonly JsonObject[] = [
  { bogus: 1 },
  { size: "x" },
  { size: 1.5 },
  { colour: 1 },
  { parts: {} },
  { parts: [{ value: 1 }] },
  { parts: [null] },
  { parts: ["x"] },
  { parts: [{ name: "a" }, { name: "a" }] },
  { parts: [{ name: "a", bogus: 1 }] },
  { tags: ["a", "a"] },
  { tags: [{}] },
  { tags: [null] },
  { tags: [1] },
  { labels: { a: 1 } },
  { labels: "x" },
  { pair: { b: 1 } },
  { ports: [{ port: 1 }, { port: 1, protocol: "TCP" }] },
  { ports: [{ name: "x" }] },
  { free: { parts: [{}] }, any: [{}] },
];
const made: Case[] = [
  ...bodies.flatMap((body) => [
    caseOf(`new ConfigMap: ${short(body)}`, apply(at, body, "one"), get(at)),
    caseOf(
      `old ConfigMap: ${short(body)}`,
      post(`${configMapsIn}?fieldManager=maker`, map({ a: "1" })),
      apply(at, body, "one"),
      get(at),
    ),
  ]),
  ...bundleBodies.map((body) =>
    caseOf(`bundle with ${short(body)}`, apply(bundleAt, of(body), "one"), get(bundleAt)),
  ),
];

const yamls = [
  "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: '1'\n",
  "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: &d {x: 'yes'}\n---\nkind: other\n",
  "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nimmutable: no\n",
  "a: b: c",
  "",
];
const texts: Case[] = yamls.map((text) =>
  caseOf(`YAML: ${short(text)}`, { ...apply(at, null, "one"), text }),
);

export const applyBodies: readonly Case[] = [...made, ...texts];
