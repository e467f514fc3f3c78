// Server-side apply: sentences that a comparison with a real server cannot judge.
import { expect, it } from "vitest";
import { listAt, objectAt, textAt } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import { clientOfFile, containing } from "../testing/client.ts";

const api = await clientOfFile();
const at = "/api/v1/namespaces/default/configmaps";
const headers = { "content-type": "application/apply-patch+yaml" };
const map = (name: string, data: Json): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  data,
});
const apply = (name: string, data: Json, manager: string) =>
  api.call("PATCH", `${at}/${name}?fieldManager=${manager}&force=true`, map(name, data), headers);
const send = (name: string, text: string) =>
  api.send("PATCH", `${at}/${name}?fieldManager=one`, text, headers);

it("lists managers by operation, then by time, then by name", async () => {
  await apply("sorted", { a: "1" }, "b");
  await apply("sorted", { b: "1" }, "a");
  const { body } = await api.call(
    "PATCH",
    `${at}/sorted?fieldManager=0`,
    { data: { c: "1" } },
    {
      "content-type": "application/merge-patch+json",
    },
  );
  const entries = listAt(body, "metadata", "managedFields");
  const keys = entries.map((entry) =>
    ["operation", "time", "manager"].map((key) => textAt(entry, key)).join(),
  );
  expect(keys).toEqual([...keys].sort());
  expect(entries).toHaveLength(3);
});

it("keys of users are data, whatever their names are", async () => {
  const text = JSON.stringify(map("names", { x: "1" })).replace('"x"', '"__proto__"');
  expect((await send("names", text)).code).toBe(201);
  const { body } = await send("names", text.replace('"1"', '"2"'));
  expect(Object.entries(objectAt(body, "data"))).toEqual([["__proto__", "2"]]);
  const [entry = null] = listAt(body, "metadata", "managedFields");
  expect(Object.keys(objectAt(entry, "fieldsV1", "f:data"))).toEqual(["f:__proto__"]);
});

it("refuses YAML that nests too deeply, or expands too many aliases", async () => {
  const nested = `${"[".repeat(600)}${"]".repeat(600)}`;
  const lists = Array.from({ length: 9 }, (_, i) => `l${i + 1}: &l${i + 1} [${`*l${i},`.repeat(9)}]`);
  for (const text of [`a: ${nested}`, "[".repeat(100_000), ["l0: &l0 [x]", ...lists].join("\n")]) {
    const { body } = await send("bad", text);
    expect(body).toMatchObject({ code: 400, message: containing("error decoding YAML") });
  }
});

it("many fields at a great depth do not take long", async () => {
  const leaves = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`k${i}`, 1]));
  const spec = Array.from({ length: 300 }).reduce<JsonObject>((inner) => ({ a: inner }), leaves);
  const path = "/apis/apps/v1/namespaces/default/deployments/deep?fieldManager=one";
  const body = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "deep" }, spec };
  const begun = performance.now();
  expect((await api.call("PATCH", path, body, headers)).code).toBe(201);
  expect((await api.call("PATCH", path, { ...body, spec: {} }, headers)).code).toBe(200);
  expect(performance.now() - begun).toBeLessThan(20_000);
});
