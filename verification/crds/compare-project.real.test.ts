import { afterAll, beforeAll, expect, it } from "vitest";
import { startRealServer, startSandboxServer } from "../../packages/sandbox/conformance/servers.ts";
import type { Server, Servers } from "../../packages/sandbox/conformance/servers.ts";
import { definitionOf, spec, version } from "../../packages/sandbox/conformance/fixtures.ts";
import {
  keyedBy,
  listOf,
  mixed,
  ofSpec,
  struct,
  text,
  whole,
} from "../../packages/sandbox/conformance/schemas.ts";
import { withStatus } from "../../packages/sandbox/conformance/things.ts";
import type { JsonObject } from "../../packages/sandbox/src/json.ts";
import { compareProject } from "./compare-project.ts";
import type { Project } from "./read-folder.ts";

let servers: Servers;
beforeAll(async () => {
  servers = { real: await startRealServer(), sandbox: await startSandboxServer() };
}, 120_000);
afterAll(() => Promise.all([servers.real.close(), servers.sandbox.close()]));

const schema = spec({
  name: { ...text, maxLength: 8, pattern: "^[a-z]+$" },
  size: { ...whole, minimum: 1, maximum: 9, default: 3, format: "int32" },
  colour: { ...text, enum: ["red", "blue"], nullable: true },
  hosts: listOf("set", { ...text, format: "hostname" }, { maxItems: 4 }),
  ports: keyedBy(struct({ name: text, port: mixed }, { required: ["name"] }), "name"),
});
const ruled = ofSpec(
  { low: whole, high: whole },
  { "x-kubernetes-validations": [{ rule: "self.low <= self.high", message: "low is at most high" }] },
);
const project = (group: string): Project => {
  const sample = (kind: string, name: string, given: JsonObject) => ({
    file: "samples.yaml",
    object: { apiVersion: `${group}/v1`, kind, metadata: { name }, spec: given },
  });
  const definition = (plural: string, kind: string, of: JsonObject) => ({
    file: "crds.yaml",
    object: definitionOf({
      group,
      plural,
      kind,
      versions: [version("v1", of, withStatus)],
    }),
  });
  return {
    name: group,
    definitions: [definition("shops", "Shop", schema), definition("ranges", "Range", ruled)],
    samples: [
      sample("Shop", "small", { name: "a", hosts: ["a.bc"], ports: [{ name: "http", port: 80 }] }),
      sample("Shop", "wrong", { name: "A", size: 10, colour: "green", hosts: ["a.bc", "a.bc", "-"] }),
      sample("Range", "fine", { low: 1, high: 2 }),
      sample("Range", "turned", { low: 2, high: 1 }),
    ],
  };
};
const limits = { samples: 10, mutations: 60 };

it("nothing differs, and nothing is unchecked", async () => {
  const { differing, unchecked, ...counts } = await compareProject(
    servers,
    project("one.example.com"),
    limits,
    "a",
    [],
  );
  expect(differing).toEqual([]);
  expect([...unchecked.keys()]).toEqual([]);
  expect(counts).toMatchObject({ definitions: 2, samples: 4, made: 4 });
  expect(counts.mutations).toBeGreaterThan(60);
}, 120_000);

/** A sandbox that is wrong in one way. */
const wrongly = (change: (text: string) => string): Server => ({
  ...servers.sandbox,
  send: async (asked) => servers.sandbox.send({ ...asked, body: change(asked.body) }),
});

it.each<[string, (text: string) => string]>([
  ["does not know a format", (body) => body.replace('"format":"hostname"', '"format":"strange"')],
  ["takes longer texts", (body) => body.replace('"maxLength":8', '"maxLength":9')],
  ["has another default", (body) => body.replace('"default":3', '"default":4')],
  [
    "takes a value that is no choice",
    (body) => body.replace('["red","blue"]', '["red","blue","none-of-these"]'),
  ],
  [
    "takes a key twice",
    (body) =>
      body
        .replace('"x-kubernetes-list-type":"map",', '"x-kubernetes-list-type":"atomic",')
        .replace('"x-kubernetes-list-map-keys":["name"]', '"description":""'),
  ],
])(
  "a sandbox that %s differs",
  async (what, change) => {
    const group = `${what.replaceAll(" ", "-")}.example.com`;
    const changed = { real: servers.real, sandbox: wrongly(change) };
    const { differing } = await compareProject(changed, project(group), limits, "b", []);
    const asked = differing.filter(({ label }) => label !== "install");
    expect(asked.length).toBeGreaterThan(0);
  },
  120_000,
);
