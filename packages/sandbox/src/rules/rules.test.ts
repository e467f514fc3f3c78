// The comparison with a real server is in conformance: cases/rules.ts, cases/rule-refusals.ts and random-rules/.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { parseJson } from "../json.ts";
import type { Json } from "../json.ts";
import { definitions, startClient, widget, widgetDefinition, widgets } from "../testing/client.ts";
import type { Client } from "../testing/client.ts";
import { missingFunctions } from "./functions.ts";

let api: Client;
beforeEach(async () => void (api = await startClient()));
afterEach(() => api.close());

const define = (rule: string, more: Readonly<Record<string, Json>> = {}) => {
  const size = { type: "integer", "x-kubernetes-validations": [{ rule, ...more }] };
  const openAPIV3Schema = { type: "object", properties: { spec: { type: "object", properties: { size } } } };
  return api.call("POST", definitions, widgetDefinition({ schema: { openAPIV3Schema } }));
};
const create = (size: number) => api.call("POST", widgets, widget("one", { size }));

it("a rule with a function that the sandbox lacks is an error of each write that needs it", async () => {
  expect((await define("[self].sort() == [1]")).code).toBe(201);
  const { code, body } = await create(1);
  expect(code).toBe(501);
  expect(body["message"]).toContain("the CEL function sort");
  expect(body["message"]).toContain('the rule \"[self].sort() == [1]\" needs');
  expect(body["message"]).toContain("test it against a real API server");
});

it("the document lists exactly the functions that the sandbox lacks", () => {
  const text = readFileSync(join(import.meta.dirname, "../../../../docs/testing.md"), "utf8");
  const [, list = ""] = /functions of Kubernetes' CEL but these:\n\n([^]*?)\n\n/.exec(text) ?? [];
  expect([...list.matchAll(/`([^`]+)`/g)].map(([, name]) => name)).toEqual([...missingFunctions]);
});

it("a field that cannot change is refused at each kind of write", async () => {
  await define("self == oldSelf", { message: "cannot be changed" });
  expect((await create(1)).code).toBe(201);
  const at = `${widgets}/one`;
  const { body: live } = await api.call("GET", at);
  const refused = {
    details: { causes: [{ field: "spec.size", message: "Invalid value: 2: cannot be changed" }] },
  };
  expect((await api.call("PUT", at, { ...live, spec: { size: 2 } })).body).toMatchObject(refused);
  expect((await api.patch(at, { spec: { size: 2 } })).body).toMatchObject(refused);
  expect((await api.patch(at, { spec: { size: 1 } })).code).toBe(200);
});

it("a value that a new rule refuses stays until it is changed", async () => {
  await define("true");
  expect((await create(1)).code).toBe(201);
  const { body } = await api.call("GET", `${definitions}/widgets.example.com`);
  const changed = parseJson(JSON.stringify(body).replace('"rule":"true"', '"rule":"self > 5"'));
  expect((await api.call("PUT", `${definitions}/widgets.example.com`, changed)).code).toBe(200);
  const at = `${widgets}/one`;
  expect((await api.patch(at, { metadata: { labels: { a: "b" } } })).code).toBe(200);
  expect((await api.patch(at, { spec: { size: 2 } })).code).toBe(422);
});

it("a rule that cannot be read is refused with its definition", async () => {
  const { code, body } = await define("self >");
  expect(code).toBe(422);
  expect(body["message"]).toContain("x-kubernetes-validations[0].rule");
});

it("a rule with a field that does not exist is refused at the first write, also in has()", async () => {
  const rules = { "x-kubernetes-validations": [{ rule: "!has(self.spec.sise) || self.spec.sise > 1" }] };
  const spec = { type: "object", properties: { size: { type: "integer" } } };
  const openAPIV3Schema = { type: "object", properties: { spec }, ...rules };
  expect((await api.call("POST", definitions, widgetDefinition({ schema: { openAPIV3Schema } }))).code).toBe(
    201,
  );
  const { code, body } = await create(2);
  expect(code).toBe(422);
  expect(body["message"]).toContain("undefined field 'sise' evaluating rule: !has(self.spec.sise)");
});

it.each([
  "optional.of(1).orValue(1 / 0) == 1",
  "'ab'.replace('', '$&') == '$&a$&b$&'",
  "'abab'.replace('a', 'x', 1) == 'xbab'",
  "'ab'.replace('b', '', 0) == 'ab'",
])("%s", async (rule) => {
  await define(rule);
  expect((await create(1)).code).toBe(201);
});

it.each([
  ["self", "must evaluate to a bool"],
  ["nope > 1", "nope"],
  ["nope(self)", "unbound function: nope"],
  ["self.nope()", "unbound function: nope"],
  ["self + 'x' == 'x'", "no such overload"],
  ["self.x == 1", "self.x == 1"],
  ["self > 'x'", "no such overload"],
  ["self ? true : false", "no such overload"],
  ["duration('x') > duration('1s')", "type conversion error"],
  ["self.all(x, true)", "self.all(x, true)"],
])("the wrong rule %s is refused at the first write, with the rule", async (rule, why) => {
  expect((await define(rule)).code).toBe(201);
  const { code, body } = await create(1);
  expect(code).toBe(422);
  expect(body["message"]).toContain(why);
  expect(body["message"]).toContain(rule);
});
