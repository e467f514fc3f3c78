import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { field, listAt, objectAt, omit, textAt } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import { generationOf, versionOf } from "../kube-object.ts";
import {
  definitions,
  startClient,
  widget,
  widgetDefinition,
  widgets,
  widgetSchema,
  containing,
} from "../testing/client.ts";
import type { Client, Reply } from "../testing/client.ts";

let api: Client;
beforeAll(async () => {
  api = await startClient();
  await api.call("POST", definitions, widgetDefinition());
});
afterAll(() => api.close());

const make = (name: string, spec: JsonObject, query = ""): Promise<Reply> =>
  api.call("POST", widgets + query, widget(name, spec));

describe("a definition", () => {
  it("is established and served at once", async () => {
    const { body } = await api.call("GET", `${definitions}/widgets.example.com`);
    expect(body["status"]).toMatchObject({
      conditions: [
        { type: "NamesAccepted", status: "True", reason: "NoConflicts" },
        { type: "Established", status: "True", reason: "InitialNamesAccepted" },
      ],
      acceptedNames: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
      storedVersions: ["v1"],
    });
    expect((await api.call("GET", widgets)).body).toMatchObject({
      kind: "WidgetList",
      apiVersion: "example.com/v1",
      items: [],
    });
  });

  it("takes its objects with it, once nothing holds them", async () => {
    const other = await startClient();
    await other.call("POST", definitions, widgetDefinition());
    await other.call("POST", widgets, widget("free"));
    await other.call("POST", widgets, widget("held", { size: 1 }, { finalizers: ["a.io/x"] }));
    const { body } = await other.call("DELETE", `${definitions}/widgets.example.com`);
    expect(body).toMatchObject({
      kind: "CustomResourceDefinition",
      metadata: { finalizers: ["customresourcecleanup.apiextensions.k8s.io"] },
    });
    expect(listAt((await other.call("GET", widgets)).body, "items")).toHaveLength(1);
    await other.patch(`${widgets}/held`, { metadata: { finalizers: null } });
    expect((await other.call("GET", `${definitions}/widgets.example.com`)).code).toBe(404);
    expect((await other.fetch(widgets)).status).toBe(404);
    await other.close();
  });

  it("whose kind another one of its group has is not served", async () => {
    const rival = widgetDefinition({}, { names: { plural: "gadgets", kind: "Widget" } });
    await api.call("POST", definitions, { ...rival, metadata: { name: "gadgets.example.com" } });
    const { body } = await api.call("GET", `${definitions}/gadgets.example.com`);
    expect(listAt(body, "status", "conditions")).toMatchObject([
      { type: "NamesAccepted", status: "False" },
      { type: "Established", status: "False" },
    ]);
    expect((await api.fetch("/apis/example.com/v1/gadgets")).status).toBe(404);
    await api.call("DELETE", `${definitions}/gadgets.example.com`);
  });

  it("gets the names that another one has, once that is gone", async () => {
    const own = await startClient();
    const names = { plural: "rivals", singular: "rival", kind: "Widget", listKind: "RivalList" };
    const rival = { ...widgetDefinition({}, { names }), metadata: { name: "rivals.example.com" } };
    await own.call("POST", definitions, widgetDefinition());
    await own.call("POST", definitions, rival);
    const at = `${definitions}/rivals.example.com`;
    expect((await own.call("GET", at)).body["status"]).toMatchObject({
      conditions: [{ status: "False", reason: "KindConflict", message: '"Widget" is already in use' }, {}],
      acceptedNames: { plural: "rivals", kind: "" },
    });
    await own.call("DELETE", `${definitions}/widgets.example.com`);
    expect((await own.call("GET", at)).body["status"]).toMatchObject({ acceptedNames: { kind: "Widget" } });
    expect((await own.call("GET", "/apis/example.com/v1/rivals")).code).toBe(200);
    await own.close();
  });

  it("takes no new objects while it waits for those that are held", async () => {
    const own = await startClient();
    await own.call("POST", definitions, widgetDefinition());
    await own.call("POST", widgets, widget("held", { size: 1 }, { finalizers: ["example.com/hold"] }));
    await own.call("DELETE", `${definitions}/widgets.example.com`);
    expect((await own.call("POST", widgets, widget("late"))).body).toMatchObject({ code: 403 });
    expect((await own.patch(`${widgets}/held`, { metadata: { finalizers: null } })).code).toBe(200);
    expect((await own.call("GET", `${definitions}/widgets.example.com`)).code).toBe(404);
    await own.close();
  });

  it("that is tightened lets its objects be changed elsewhere", async () => {
    const own = await startClient();
    const spec = objectAt(widgetSchema, "properties", "spec");
    const size = { type: "integer", maximum: 10 };
    const properties = { ...objectAt(spec, "properties"), size };
    const tighter = { ...widgetSchema, properties: { spec: { ...spec, properties } } };
    await own.call("POST", definitions, widgetDefinition());
    await own.call("POST", widgets, widget("big", { size: 50 }));
    const { versions } = objectAt(widgetDefinition({ schema: { openAPIV3Schema: tighter } }), "spec");
    await own.patch(`${definitions}/widgets.example.com`, { spec: { versions: versions ?? [] } });
    expect((await own.patch(`${widgets}/big`, { spec: { colour: "blue" } })).code).toBe(200);
    expect((await own.patch(`${widgets}/big`, { spec: { size: 51 } })).code).toBe(422);
    await own.close();
  });

  it("serves a changed schema from then on, also for objects stored before", async () => {
    const other = await startClient();
    await other.call("POST", definitions, widgetDefinition());
    await other.call("POST", widgets, widget("old"));
    const size = { type: "object", properties: { weight: { type: "integer", default: 7 } } };
    const version =
      field(
        widgetDefinition({ schema: { openAPIV3Schema: { type: "object", properties: { spec: size } } } }),
        "spec",
        "versions",
      ) ?? [];
    await other.patch(`${definitions}/widgets.example.com`, { spec: { versions: version } });
    expect((await other.call("GET", `${widgets}/old`)).body["spec"]).toEqual({ weight: 7 });
    await other.close();
  });

  const withSchema = (properties: JsonObject, root: JsonObject = {}): JsonObject =>
    widgetDefinition({ schema: { openAPIV3Schema: { type: "object", properties, ...root } } });
  const at = "spec.validation.openAPIV3Schema";
  it.each<[string, JsonObject, string]>([
    ["no schema", widgetDefinition({ schema: {} }), "spec.versions[0].schema.openAPIV3Schema"],
    [
      "a root without a type",
      widgetDefinition({ schema: { openAPIV3Schema: { properties: {} } } }),
      `${at}.type`,
    ],
    ["a field without a type", withSchema({ spec: { properties: {} } }), `${at}.properties[spec].type`],
    ["an unknown type", withSchema({ spec: { type: "string[]" } }), `${at}.properties[spec].type`],
    ["a list without items", withSchema({ spec: { type: "array" } }), `${at}.properties[spec].items`],
    [
      "properties beside additionalProperties",
      withSchema({
        spec: {
          type: "object",
          properties: { a: { type: "string" } },
          additionalProperties: { type: "string" },
        },
      }),
      `${at}.properties[spec].additionalProperties`,
    ],
    [
      "a type inside anyOf",
      withSchema({ spec: { type: "string", anyOf: [{ type: "string" }] } }),
      `${at}.properties[spec].anyOf[0].type`,
    ],
    [
      "a restriction of metadata",
      withSchema({ metadata: { type: "object", properties: { labels: { type: "object" } } } }),
      `${at}.properties[metadata]`,
    ],
    ["a $ref", withSchema({ spec: { type: "object", $ref: "#/x" } }), `${at}.properties[spec].$ref`],
    [
      "a default that its schema refuses",
      withSchema({ a: { type: "integer", default: "x" } }),
      `${at}.properties[a].default`,
    ],
    [
      "a pattern that is none",
      withSchema({ a: { type: "string", pattern: "(" } }),
      `${at}.properties[a].pattern`,
    ],
    [
      "two stored versions",
      widgetDefinition(
        {},
        {
          versions: [1, 2].map((n) => ({
            name: `v${n}`,
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: "object" } },
          })),
        },
      ),
      "spec.versions",
    ],
    ["another name", { ...widgetDefinition(), metadata: { name: "things.example.com" } }, "metadata.name"],
    ["a wrong scope", widgetDefinition({}, { scope: "Galaxy" }), "spec.scope"],
  ])("is refused with %s", async (_, definition, where) => {
    const { body } = await api.call("POST", `${definitions}?dryRun=All`, definition);
    expect(body).toMatchObject({
      code: 422,
      reason: "Invalid",
      details: { kind: "CustomResourceDefinition", group: "apiextensions.k8s.io" },
    });
    expect(listAt(body, "details", "causes").map((cause) => textAt(cause, "field"))).toContain(where);
  });

  it("may say int-or-string in the two ways that are structural", async () => {
    const either = { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] };
    const { anyOf, ...rest } = either;
    const definition = withSchema({ a: either, b: { ...rest, allOf: [{ anyOf }, { pattern: "x" }] } });
    expect(
      (
        await api.call("POST", `${definitions}?dryRun=All`, {
          ...definition,
          metadata: { name: "widgets.example.com" },
        })
      ).code,
    ).toBe(409);
  });
});

describe("a custom resource", () => {
  it("is pruned and defaulted", async () => {
    const { body } = await make("pruned", {
      size: 1,
      extra: 1,
      colour: null,
      tags: null,
      maybe: null,
      limits: { a: 1 },
      free: { x: { y: 1 } },
      port: "http",
    });
    expect(body["spec"]).toEqual({
      size: 1,
      colour: "red",
      maybe: null,
      limits: { a: 1 },
      free: { x: { y: 1 } },
      port: "http",
    });
  });

  it("with an unknown field is refused under strict validation", async () => {
    const { body } = await make("strict", { size: 1, extra: { a: 1 } }, "?fieldValidation=Strict");
    expect(body).toMatchObject({
      code: 400,
      reason: "BadRequest",
      message:
        'Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "spec.extra"',
    });
  });

  it.each<[JsonObject, string, string, string]>([
    [{}, "FieldValueRequired", "spec.size", "Required value"],
    [
      { size: "x" },
      "FieldValueTypeInvalid",
      "spec.size",
      'Invalid value: "string": spec.size in body must be of type integer: "string"',
    ],
    [
      { size: 0 },
      "FieldValueInvalid",
      "spec.size",
      "Invalid value: 0: spec.size in body should be greater than or equal to 1",
    ],
    [
      { size: 101 },
      "FieldValueInvalid",
      "spec.size",
      "Invalid value: 101: spec.size in body should be less than or equal to 100",
    ],
    [
      { size: 1, colour: "green" },
      "FieldValueNotSupported",
      "spec.colour",
      'Unsupported value: "green": supported values: "red", "blue"',
    ],
    [
      { size: 1, name: "A1" },
      "FieldValueInvalid",
      "spec.name",
      "Invalid value: \"A1\": spec.name in body should match '^[a-z]+$'",
    ],
    [
      { size: 1, name: "a" },
      "FieldValueInvalid",
      "spec.name",
      'Invalid value: "a": spec.name in body should be at least 2 chars long',
    ],
    [{ size: 1, name: "abcdef" }, "FieldValueTooLong", "spec.name", "Too long: may not be more than 5 bytes"],
    [
      { size: 1, tags: ["a", "b", "c"] },
      "FieldValueTooMany",
      "spec.tags",
      "Too many: 3: must have at most 2 items",
    ],
    [{ size: 1, tags: ["a", "a"] }, "FieldValueDuplicate", "spec.tags[1]", 'Duplicate value: "a"'],
    [
      { size: 1, tags: [1] },
      "FieldValueTypeInvalid",
      "spec.tags[0]",
      'Invalid value: "integer": spec.tags[0] in body must be of type string: "integer"',
    ],
    [
      { size: 1, limits: { a: "x" } },
      "FieldValueTypeInvalid",
      "spec.limits.a",
      'Invalid value: "string": spec.limits.a in body must be of type integer: "string"',
    ],
    [
      { size: 1, port: true },
      "FieldValueTypeInvalid",
      "spec.port",
      'Invalid value: "boolean": spec.port in body must be of type integer,string: "boolean"',
    ],
    [
      { size: 1, at: "noon" },
      "FieldValueTypeInvalid",
      "spec.at",
      'Invalid value: "noon": spec.at in body must be of type date-time: "noon"',
    ],
  ])("with the spec %j is refused", async (spec, reason, where, message) => {
    const { body } = await make("refused", spec);
    expect(body).toMatchObject({
      code: 422,
      reason: "Invalid",
      message: `Widget.example.com "refused" is invalid: ${where}: ${message}`,
      details: {
        name: "refused",
        group: "example.com",
        kind: "Widget",
        causes: [{ reason, field: where, message }],
      },
    });
  });

  it("needs its type, and a version to be replaced", async () => {
    const untyped = omit(widget("untyped"), "kind");
    expect((await api.call("POST", widgets, untyped)).body).toMatchObject({
      code: 400,
      message: containing("Object 'Kind' is missing"),
    });
    await make("unversioned", { size: 1 });
    const { body } = await api.call("PUT", `${widgets}/unversioned`, widget("unversioned", { size: 2 }));
    expect(body).toMatchObject({
      code: 422,
      message: containing("metadata.resourceVersion: Invalid value: 0: must be specified for an update"),
    });
  });

  it("counts generations of what is asked for, and of its deletion", async () => {
    const first = (
      await api.call(
        "POST",
        widgets,
        widget("counted", { size: 1 }, { generation: 5, finalizers: ["a.io/x"] }),
      )
    ).body;
    const labelled = (
      await api.patch(`${widgets}/counted`, { metadata: { labels: { a: "b" }, generation: 9 } })
    ).body;
    const sized = (await api.patch(`${widgets}/counted`, { spec: { size: 2 } })).body;
    const seen = (await api.patch(`${widgets}/counted/status`, { status: { seen: 1 } })).body;
    const deleted = (await api.call("DELETE", `${widgets}/counted`)).body;
    expect([first, labelled, sized, seen, deleted].map(generationOf)).toEqual([1, 1, 2, 2, 3]);
  });

  it("has its status written through the subresource only, and nothing else there", async () => {
    const { body } = await api.call("POST", widgets, { ...widget("split"), status: { seen: 1 } });
    expect(body).not.toHaveProperty("status");
    const main = await api.patch(`${widgets}/split`, { status: { seen: 2 } });
    expect(main.body).not.toHaveProperty("status");
    expect(versionOf(main.body)).toBe(versionOf(body));
    const status = await api.patch(`${widgets}/split/status`, {
      spec: { size: 9 },
      metadata: { labels: { a: "b" } },
      status: { seen: 3, odd: 1 },
    });
    expect(status.body).toMatchObject({ spec: { size: 1 }, status: { seen: 3 } });
    expect(status.body["metadata"]).not.toHaveProperty("labels");
    const replaced = await api.call("PUT", `${widgets}/split/status`, {
      ...status.body,
      status: { seen: 4 },
    });
    expect(replaced.body["status"]).toEqual({ seen: 4 });
    const stale = await api.call("PUT", `${widgets}/split/status`, { ...status.body, status: { seen: 5 } });
    expect(stale.code).toBe(409);
    expect((await api.call("GET", `${widgets}/split/status`)).body).toEqual(replaced.body);
    const invalid = await api.patch(`${widgets}/split/status`, { status: { seen: "x" } });
    expect(invalid.body).toMatchObject({ code: 422, details: { causes: [{ field: "status.seen" }] } });
  });

  it("without the subresource keeps status like any field", async () => {
    const other = await startClient();
    await other.call("POST", definitions, widgetDefinition({ subresources: {} }));
    const { body } = await other.call("POST", widgets, { ...widget("plain"), status: { seen: 1 } });
    expect(body["status"]).toEqual({ seen: 1 });
    expect(generationOf((await other.patch(`${widgets}/plain`, { status: { seen: 2 } })).body)).toBe(2);
    expect((await other.patch(`${widgets}/plain/status`, {})).code).toBe(404);
    await other.close();
  });

  it("is served in every version under that version's name and schema", async () => {
    const other = await startClient();
    const versions = ["v1", "v2"].map((name, i) => ({
      name,
      served: true,
      storage: i === 0,
      schema: {
        openAPIV3Schema:
          name === "v1"
            ? widgetSchema
            : {
                type: "object",
                properties: { spec: { type: "object", properties: { size: { type: "integer" } } } },
              },
      },
    }));
    await other.call("POST", definitions, widgetDefinition({}, { versions }));
    await other.call("POST", widgets, widget("both", { size: 3, colour: "blue" }));
    const newer = await other.call("GET", `${widgets.replace("v1", "v2")}/both`);
    expect(newer.body).toMatchObject({ apiVersion: "example.com/v2", spec: { size: 3 } });
    expect(objectAt(newer.body, "spec")).not.toHaveProperty("colour");
    const watch = await other.watch(widgets.replace("v1", "v2"));
    expect((await watch.next()).object).toEqual(newer.body);
    await other.close();
  });

  it("of cluster scope has no namespace", async () => {
    const other = await startClient();
    await other.call("POST", definitions, widgetDefinition({}, { scope: "Cluster" }));
    const { body } = await other.call("POST", "/apis/example.com/v1/widgets", widget("wide"));
    expect(body["metadata"]).not.toHaveProperty("namespace");
    expect((await other.call("GET", "/apis/example.com/v1/widgets/wide")).code).toBe(200);
    expect((await other.fetch(widgets)).status).toBe(404);
    await other.close();
  });
});

describe("schemas with alternatives", () => {
  const schema = (spec: JsonObject): JsonObject =>
    widgetDefinition({
      schema: {
        openAPIV3Schema: {
          type: "object",
          properties: {
            spec: { type: "object", properties: { a: { type: "integer" }, b: { type: "integer" } }, ...spec },
          },
        },
      },
    });
  it.each<[string, JsonObject, Json, string | undefined]>([
    [
      "anyOf",
      { anyOf: [{ required: ["a"] }, { required: ["b"] }] },
      {},
      '"spec" must validate at least one schema (anyOf)',
    ],
    ["anyOf", { anyOf: [{ required: ["a"] }, { required: ["b"] }] }, { b: 1 }, undefined],
    [
      "oneOf",
      { oneOf: [{ required: ["a"] }, { required: ["b"] }] },
      { a: 1, b: 1 },
      '"spec" must validate one and only one schema (oneOf). Found 2 valid alternatives',
    ],
    [
      "oneOf",
      { oneOf: [{ required: ["a"] }, { required: ["b"] }] },
      {},
      '"spec" must validate one and only one schema (oneOf). Found none valid',
    ],
    [
      "allOf",
      { allOf: [{ required: ["a"] }, { properties: { a: { minimum: 2 } } }] },
      { a: 1 },
      '"spec" must validate all the schemas (allOf)',
    ],
    ["not", { not: { required: ["a"] } }, { a: 1 }, '"spec" must not validate the schema (not)'],
  ])("%s of %j on %j", async (_, alternatives, spec, message) => {
    const other = await startClient();
    await other.call("POST", definitions, schema(alternatives));
    const { code, body } = await other.call("POST", widgets, { ...widget("x"), spec });
    await other.close();
    if (message === undefined) expect(code).toBe(201);
    else expect(textAt(body, "message")).toContain(message);
  });
});
