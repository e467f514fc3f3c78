// Who owns which fields, and server-side apply: sentences that hold of the sandbox and of a real API server.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pathsIn, shownPath } from "./field-sets.ts";
import { field, listAt, objectAt, textAt } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";
import { anyText, configMap, configMaps, containing, widget, widgets } from "./testing/client.ts";
import { defineWidgets } from "./testing/contract-kinds.ts";
import type { AnyServer } from "./testing/real-client.ts";

const as = (type: string) => ({ "content-type": `application/${type}`, "user-agent": "tester/1.2 (x)" });
const merge = as("merge-patch+json");

/** What each manager owns, as `name` for appliers, `name!` for updaters, with a subresource after a slash. */
function owned(object: JsonObject): Record<string, string> {
  const entries: [string, string][] = listAt(object, "metadata", "managedFields").map((entry) => {
    const text = (key: string): string => textAt(entry, key) ?? "";
    const suffix = text("subresource") === "" ? "" : `/${text("subresource")}`;
    const name = `${text("manager")}${text("operation") === "Update" ? "!" : ""}${suffix}`;
    return [name, [...pathsIn(objectAt(entry, "fieldsV1"))].map(shownPath).join(" ")];
  });
  return Object.fromEntries(entries);
}

/** The sentences, for a server that `start` brings. */
export function applyContract(start: () => Promise<AnyServer>): void {
  let api: AnyServer;
  beforeAll(async () => {
    api = await start();
    await defineWidgets(api);
  }, 900_000);
  afterAll(() => api.close());

  const sent = async (method: string, path: string, body: Json, type = as("json")): Promise<JsonObject> => {
    const reply = await api.call(method, path, body, type);
    expect(reply.code, JSON.stringify(reply.body)).toBeLessThan(300);
    return reply.body;
  };
  const tried = (path: string, body: Json, query: string) =>
    api.call("PATCH", `${path}?${query}`, body, as("apply-patch+yaml"));
  const apply = async (who: string, path: string, body: Json): Promise<JsonObject> => {
    const reply = await tried(path, body, `fieldManager=${who}`);
    expect(reply.code, JSON.stringify(reply.body)).toBeLessThan(300);
    return reply.body;
  };
  const at = (name: string): string => `${widgets}/${name}`;
  const version = (object: JsonObject): string => textAt(object, "metadata", "resourceVersion") ?? "";

  describe("updates", () => {
    it("give what they set to their manager, named or taken from the user agent", async () => {
      const spec = { size: 1, limits: { a: 1 }, tags: ["x"], parts: [{ name: "p", image: "i" }] };
      const body = widget("made", {
        ...spec,
        whole: { a: "1" },
        plain: [{ a: "1" }],
        free: { x: { y: [1] } },
      });
      const made = await sent("POST", widgets, body);
      expect(owned(made)).toEqual({
        "tester!":
          '.spec .spec.colour .spec.free .spec.limits .spec.parts .spec.plain .spec.size .spec.tags .spec.whole .spec.free.x .spec.free.x.y .spec.limits.a .spec.parts[name="p",port=80] .spec.parts[name="p",port=80].image .spec.parts[name="p",port=80].name .spec.parts[name="p",port=80].port .spec.tags[="x"]',
      });
      expect(listAt(made, "metadata", "managedFields")).toMatchObject([
        { apiVersion: "example.com/v1", fieldsType: "FieldsV1", time: anyText },
      ]);
      const changed = await sent("PATCH", `${at("made")}?fieldManager=other`, { spec: { size: 2 } }, merge);
      expect(owned(changed)).toMatchObject({ "other!": ".spec.size" });
      expect(owned(changed)["tester!"]).not.toContain(".spec.size");
    });

    it("own metadata but what identifies the object, items by their key", async () => {
      const owner = { apiVersion: "v1", kind: "ConfigMap", name: "x", uid: "u1" };
      const metadata = { labels: { a: "1" }, finalizers: ["example.com/f"], ownerReferences: [owner] };
      const made = await sent("POST", widgets, { ...widget("marked", {}, metadata) });
      expect(owned(made)["tester!"]).toBe(
        '.spec .metadata.finalizers .metadata.labels .metadata.ownerReferences .metadata.finalizers[="example.com/f"] .metadata.labels.a .metadata.ownerReferences[uid="u1"] .spec.colour',
      );
      const gone = await sent("PATCH", at("marked"), { metadata: { labels: null, finalizers: null } }, merge);
      expect(owned(gone)["tester!"]).toBe(
        '.spec .metadata.ownerReferences .metadata.ownerReferences[uid="u1"] .spec.colour',
      );
    });

    it("of status are kept apart, and own nothing else", async () => {
      await sent("POST", widgets, { ...widget("seen", {}), status: { seen: 9 } });
      const body = { spec: { size: 7 }, metadata: { labels: { a: "1" } }, status: { seen: 1 } };
      const seen = await sent("PATCH", `${at("seen")}/status`, body, merge);
      expect(owned(seen)).toEqual({
        "tester!": ".spec .spec.colour",
        "tester!/status": ".status .status.seen",
      });
    });

    it("that change nothing leave version and times alone", async () => {
      const made = await sent("POST", widgets, widget("same"));
      const again = await sent("PATCH", `${at("same")}?fieldManager=other`, { spec: { size: 1 } }, merge);
      expect(again).toEqual(made);
    });

    it("of more than ten managers become ancient changes", async () => {
      await sent("POST", configMaps, configMap("many", { data: { a: "0" } }));
      for (let i = 0; i < 11; i += 1)
        await sent("PATCH", `${configMaps}/many?fieldManager=m${i}`, { data: { [`k${i}`]: "" } }, merge);
      const { body } = await api.call("GET", `${configMaps}/many`);
      expect(Object.keys(owned(body)).length).toBe(10);
      expect(owned(body)["ancient-changes!"]).toContain(".data.k");
    });

    it("may have the managers forgotten, and then nobody is kept until somebody applies", async () => {
      const at = `${configMaps}/reset`;
      await sent("POST", configMaps, configMap("reset", { data: { a: "1" } }));
      const reset = await sent("PATCH", at, { metadata: { managedFields: [{}] } }, merge);
      expect(owned(reset)).toEqual({});
      expect(owned(await sent("PATCH", at, { data: { b: "1" } }, merge))).toEqual({});
      const applied = await apply("a", at, configMap("reset", { data: { a: "1" } }));
      expect(owned(applied)).toEqual({
        a: ".data.a .metadata.labels",
        "before-first-apply!": ".data .data.a .data.b",
      });
      expect(owned(await sent("PATCH", at, { metadata: { managedFields: [] } }, merge))).toEqual({});
    });
  });

  describe("applying", () => {
    it("creates what is not there, with 201, and owns what it says, not the defaults", async () => {
      const { code, body } = await tried(
        at("new"),
        widget("new", { size: 1, tags: ["x"] }),
        "fieldManager=a",
      );
      expect(code).toBe(201);
      expect(body).toMatchObject({
        spec: { size: 1, colour: "red", tags: ["x"] },
        metadata: { generation: 1 },
      });
      expect(owned(body)).toEqual({ a: '.spec.size .spec.tags[="x"]' });
    });

    it("takes YAML", async () => {
      const yaml = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: yaml}\nspec:\n  size: 3\n";
      const { body } = await api.send("PATCH", `${at("yaml")}?fieldManager=a`, yaml, as("apply-patch+yaml"));
      expect(body).toMatchObject({ spec: { size: 3 } });
    });

    it("of the same changes nothing, not even the version", async () => {
      const first = await apply("a", at("idle"), widget("idle", { size: 1, limits: { x: 1 } }));
      expect(await apply("a", at("idle"), widget("idle", { size: 1, limits: { x: 1 } }))).toEqual(first);
    });

    it("takes out what its manager no longer says and nobody else owns", async () => {
      const spec = { size: 1, nested: { a: "1", b: { c: "1" } }, limits: { x: 1 }, tags: ["x", "y"] };
      await apply(
        "a",
        at("less"),
        widget("less", { ...spec, parts: [{ name: "p" }, { name: "q", port: 1 }] }),
      );
      await apply("b", at("less"), widget("less", { limits: { x: 1 }, tags: ["y"] }));
      const less = await apply("a", at("less"), widget("less", { size: 1, parts: [{ name: "q", port: 1 }] }));
      expect(field(less, "spec")).toEqual({
        size: 1,
        colour: "red",
        limits: { x: 1 },
        tags: ["y"],
        parts: [{ name: "q", port: 1 }],
      });
      const none = await apply("b", at("less"), widget("less", {}));
      expect(field(none, "spec")).toEqual({ size: 1, colour: "red", parts: [{ name: "q", port: 1 }] });
    });

    it("shares fields of one value, and then both have to let go", async () => {
      await apply("a", at("shared"), widget("shared", { size: 1 }));
      const shared = await apply("b", at("shared"), widget("shared", { size: 1 }));
      expect(owned(shared)).toEqual({ a: ".spec.size", b: ".spec.size" });
      const timed = listAt(shared, "metadata", "managedFields").filter((one) => textAt(one, "time"));
      expect(timed).toMatchObject([{ manager: "a" }]);
      expect(await apply("a", at("shared"), widget("shared", {}))).toMatchObject({ spec: { size: 1 } });
      expect(field(await apply("b", at("shared"), widget("shared", {})), "spec", "size")).toBeUndefined();
    });

    it("of another value conflicts with an updater, by name and version", async () => {
      await sent("POST", `${widgets}?fieldManager=u`, widget("one", { size: 1 }));
      const { code, body } = await tried(at("one"), widget("one", { size: 2 }), "fieldManager=a");
      expect(code).toBe(409);
      expect(body).toEqual({
        kind: "Status",
        apiVersion: "v1",
        metadata: {},
        status: "Failure",
        code: 409,
        reason: "Conflict",
        message: 'Apply failed with 1 conflict: conflict with "u" using example.com/v1: .spec.size',
        details: {
          causes: [
            {
              reason: "FieldManagerConflict",
              message: 'conflict with "u" using example.com/v1',
              field: ".spec.size",
            },
          ],
        },
      });
    });

    it("tells all conflicts, and forced takes the fields over", async () => {
      const spec = { size: 1, limits: { x: 1 }, whole: { a: "1" }, plain: [{ a: "1" }] };
      await apply("a", at("both"), widget("both", { ...spec, parts: [{ name: "p", image: "1" }] }));
      const other = {
        size: 2,
        limits: { x: 2 },
        whole: { b: "1" },
        plain: [],
        parts: [{ name: "p", image: "2" }],
      };
      const { body } = await tried(at("both"), widget("both", other), "fieldManager=b");
      expect(textAt(body, "message")).toBe(
        'Apply failed with 5 conflicts: conflicts with "a":\n- .spec.plain\n- .spec.size\n- .spec.whole\n- .spec.limits.x\n- .spec.parts[name="p",port=80].image',
      );
      const forced = await tried(at("both"), widget("both", other), "fieldManager=b&force=true");
      expect(forced.body).toMatchObject({ spec: other });
      expect(owned(forced.body)["a"]).toBe(
        '.spec.parts[name="p",port=80] .spec.parts[name="p",port=80].name',
      );
    });

    it("keeps the order of the applier for the items that it has", async () => {
      const parts = (names: string) => ({ parts: names.split("").map((name) => ({ name })) });
      const order = (object: JsonObject) =>
        listAt(object, "spec", "parts")
          .map((one) => textAt(one, "name"))
          .join("");
      await apply("a", at("order"), widget("order", parts("abc")));
      expect(order(await apply("b", at("order"), widget("order", parts("xcya"))))).toBe("bxcya");
      expect(order(await apply("a", at("order"), widget("order", parts("cba"))))).toBe("xcyba");
    });

    it("treats maps and lists of one value as a whole", async () => {
      await apply(
        "a",
        at("whole"),
        widget("whole", { whole: { a: "1", b: "1" }, free: { x: { y: 1 }, z: [1] } }),
      );
      const next = widget("whole", { whole: { a: "1" }, free: { x: { y: 1 } } });
      const whole = await apply("a", at("whole"), next);
      expect(field(whole, "spec")).toEqual({ colour: "red", whole: { a: "1" }, free: { x: { y: 1 } } });
      expect(owned(whole)).toEqual({ a: ".spec.whole .spec.free.x .spec.free.x.y" });
    });

    it("on status owns and prunes there only", async () => {
      await apply("a", at("status"), { ...widget("status", { size: 1 }), status: { seen: 5 } });
      const condition = (type: string, status: string) => ({ conditions: [{ type, status }] });
      const body = (status: JsonObject) => ({ ...widget("status", { size: 9 }), status });
      await apply("a", `${at("status")}/status`, body({ seen: 1, ...condition("A", "True") }));
      await apply("b", `${at("status")}/status`, body(condition("B", "True")));
      const done = await apply("a", `${at("status")}/status`, body({ seen: 2 }));
      expect(done).toMatchObject({ spec: { size: 1 }, status: { seen: 2, conditions: [{ type: "B" }] } });
      expect(owned(done)).toEqual({
        a: ".spec.size",
        "a/status": ".status.seen",
        "b/status":
          '.status.conditions[type="B"] .status.conditions[type="B"].status .status.conditions[type="B"].type',
      });
      expect((await tried(`${at("nobody")}/status`, body({}), "fieldManager=a")).code).toBe(404);
    });

    it("as a dry run stores nothing", async () => {
      const { body } = await tried(at("dry"), widget("dry"), "fieldManager=a&dryRun=All");
      expect(owned(body)).toEqual({ a: ".spec.size" });
      expect((await api.call("GET", at("dry"))).code).toBe(404);
    });

    it("against an older version is a conflict", async () => {
      const old = await apply("a", at("old"), widget("old", { size: 1 }));
      await apply("a", at("old"), widget("old", { size: 2 }));
      const stale = widget("old", { size: 3 }, { resourceVersion: version(old) });
      const { body } = await tried(at("old"), stale, "fieldManager=a");
      expect(body).toMatchObject({ code: 409, message: containing("the object has been modified") });
    });

    it("by kubectl takes over what client-side apply left, and keeps its annotation", async () => {
      const annotation = "kubectl.kubernetes.io/last-applied-configuration";
      // Go's JSON may stand in HTML.
      const said = (data: JsonObject) =>
        `${JSON.stringify({ apiVersion: "v1", data, kind: "ConfigMap", metadata: { name: "cs" } })
          .replaceAll("<", "\\u003c")
          .replaceAll("&", "\\u0026")}\n`;
      const map = configMap("cs", { data: { a: "1" } });
      const annotated = { ...map, metadata: { name: "cs", annotations: { [annotation]: said({ a: "1" }) } } };
      await sent("POST", `${configMaps}?fieldManager=kubectl-client-side-apply`, annotated);
      const wanted = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "cs" }, data: { a: "2 & <3" } };
      expect((await tried(`${configMaps}/cs`, wanted, "fieldManager=else")).code).toBe(409);
      const taken = await apply("kubectl", `${configMaps}/cs`, wanted);
      expect(taken).toMatchObject({ metadata: { annotations: { [annotation]: said({ a: "2 & <3" }) } } });
      await sent("PATCH", `${configMaps}/cs`, { data: { a: "3" } }, merge);
      expect((await tried(`${configMaps}/cs`, wanted, "fieldManager=kubectl")).code).toBe(409);
    });

    it.each<[string, JsonObject]>([
      ["none", {}],
      ["one that cannot be read", { "kubectl.kubernetes.io/last-applied-configuration": "{" }],
    ])("by kubectl takes nothing over by an annotation of client-side apply: %s", async (_, annotations) => {
      const name = `unread-${Object.keys(annotations).length}`;
      const made = configMap(name, { data: { a: "1" } });
      const annotated = { ...made, metadata: { name, annotations } };
      await sent("POST", `${configMaps}?fieldManager=kubectl-client-side-apply`, annotated);
      const wanted = configMap(name, { data: { a: "2" } });
      const { body } = await tried(`${configMaps}/${name}`, wanted, "fieldManager=kubectl");
      expect(body).toMatchObject({
        code: 409,
        message: containing('conflict with "kubectl-client-side-apply" using v1: .data.a'),
      });
      expect((await api.call("GET", `${configMaps}/${name}`)).body).toMatchObject({ data: { a: "1" } });
    });
  });

  describe("is refused", () => {
    const long = "x".repeat(129);
    const options: [string, string][] = [
      ["", "fieldManager: Required value: is required for apply patch"],
      [`fieldManager=${long}`, "fieldManager: Too long: may not be more than 128 bytes"],
      ["fieldManager=a%0Ab", "invalid character U+000A (at position 1)"],
    ];
    it.each(options)("with the options %j", async (query, message) => {
      const { body } = await tried(at("no"), widget("no"), query);
      expect(body).toMatchObject({ code: 422, message: containing(message) });
    });

    it.each([
      ["a list without its end", "a: ["],
      ["an alias without its anchor", "a: *b"],
      ["an anchor within itself", "a: &b [*b]"],
      ["more lists within lists than can be read", `a: ${"[".repeat(20_000)}`],
    ])("what is no YAML: %s", async (_, text) => {
      const type = as("apply-patch+yaml");
      const { body } = await api.send("PATCH", `${at("no")}?fieldManager=a`, text, type);
      expect(body).toMatchObject({ code: 400, message: containing("error decoding YAML: ") });
    });

    it("other patches with force", async () => {
      const { body } = await api.call("PATCH", `${at("no")}?force=true`, {}, merge);
      expect(body).toMatchObject({
        code: 422,
        message: containing("may not be specified for non-apply patch"),
      });
    });

    const wrong: [string, JsonObject, number, string][] = [
      ["another kind", configMap("no"), 400, "invalid object type: /v1, Kind=ConfigMap"],
      [
        "another name",
        widget("yes"),
        400,
        "the name of the object (yes) does not match the name on the URL (no)",
      ],
      ["managers", widget("no", {}, { managedFields: [] }), 400, "metadata.managedFields must be nil"],
      [
        "unknown fields",
        widget("no", { sise: 1 }),
        500,
        "failed to create typed patch object (/no; example.com/v1, Kind=Widget): .spec.sise: field not declared in schema",
      ],
      [
        "texts for numbers",
        widget("no", { size: "a" }),
        500,
        ".spec.size: expected numeric (int or float), got string",
      ],
      [
        "numbers for texts",
        widget("no", { colour: 1 }),
        500,
        ".spec.colour: expected string, got &value.valueUnstructured{Value:1}",
      ],
      [
        "items without keys",
        widget("no", { parts: [{ image: "a" }], tags: [] }),
        422,
        "spec.parts[0].name: Required value",
      ],
      [
        "items twice",
        widget("no", { tags: ["a", "a"] }),
        500,
        '.spec.tags: duplicate entries for key [="a"]',
      ],
      ["maps for lists", widget("no", { parts: {} }), 500, ".spec.parts: expected list, got &{map[]}"],
      ["lists for maps", widget("no", { nested: [1] }), 500, ".spec.nested: expected map, got &{[1]}"],
      ["texts for flags", widget("no", { on: "yes" }), 500, ".spec.on: expected boolean, got &{yes}"],
      [
        "a uid of nothing",
        widget("no", {}, { uid: "u" }),
        409,
        "uid mismatch: the provided object specified uid u, and no existing object was found",
      ],
      [
        "nulls that cannot be",
        widget("no", { nested: null }),
        422,
        'spec.nested in body must be of type object: "null"',
      ],
    ];
    it.each(wrong)("%s", async (_, body, code, message) => {
      const reply = await tried(at("no"), body, "fieldManager=a");
      expect(reply.body).toMatchObject({ code, message: containing(message) });
    });
  });
}
