import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { field, listAt, textAt } from "../json.ts";
import { versionOf } from "../kube-object.ts";
import { configMap, configMaps, containing, matching, startClient } from "../testing/client.ts";
import type { Client } from "../testing/client.ts";

let api: Client;
beforeAll(async () => void (api = await startClient({ now: () => new Date("2030-01-02T03:04:05.678Z") })));
afterAll(() => api.close());

describe("creating", () => {
  it("gives an object its system metadata and takes none from the user", async () => {
    const { code, body } = await api.call("POST", configMaps, {
      ...configMap("made", { data: { a: "1" } }),
      metadata: {
        name: "made",
        uid: "mine",
        creationTimestamp: "2000-01-01T00:00:00Z",
        deletionTimestamp: "2000-01-01T00:00:00Z",
      },
    });
    expect(code).toBe(201);
    expect(body).toMatchObject({
      kind: "ConfigMap",
      metadata: {
        name: "made",
        namespace: "default",
        creationTimestamp: "2030-01-02T03:04:05Z",
        uid: matching(/^[0-9a-f-]{36}$/),
      },
    });
    expect(field(body, "metadata", "deletionTimestamp")).toBeUndefined();
    expect(Number(versionOf(body))).toBeGreaterThan(0);
  });

  it("makes up names from generateName", async () => {
    const { body } = await api.call("POST", configMaps, { metadata: { generateName: "made-" } });
    expect(textAt(body, "metadata", "name")).toMatch(/^made-[a-z0-9]{5}$/);
  });

  it("refuses a name that is taken", async () => {
    await api.call("POST", configMaps, configMap("twice"));
    const { code, body } = await api.call("POST", configMaps, configMap("twice"));
    expect(code).toBe(409);
    expect(body).toMatchObject({
      kind: "Status",
      apiVersion: "v1",
      status: "Failure",
      reason: "AlreadyExists",
      message: 'configmaps "twice" already exists',
      details: { name: "twice", kind: "configmaps" },
      code: 409,
    });
  });

  it.each(["a:b", "{}", "%", "__proto__", "Upper", "", "ünder", "a".repeat(254)])(
    "refuses the name %j with its field as a cause",
    async (name) => {
      const { code, body } = await api.call("POST", configMaps, configMap(name));
      expect(code).toBe(422);
      expect(body).toMatchObject({
        reason: "Invalid",
        message: matching(/^ConfigMap ".*" is invalid: .*metadata\.name: /s),
        details: { kind: "ConfigMap" },
      });
      const causes = listAt(body, "details", "causes").map((cause) => textAt(cause, "field"));
      expect(new Set(causes)).toEqual(new Set(["metadata.name"]));
    },
  );

  it("refuses a namespace that is not there, or not the one of the path", async () => {
    const nowhere = await api.call("POST", "/api/v1/namespaces/nowhere/configmaps", configMap("a"));
    expect(nowhere.body).toMatchObject({ code: 404, message: 'namespaces "nowhere" not found' });
    const other = await api.call("POST", configMaps, { metadata: { name: "a", namespace: "kube-system" } });
    expect(other.body).toMatchObject({
      code: 400,
      reason: "BadRequest",
      message: containing("does not match the namespace"),
    });
  });

  it("refuses what is not of the kind", async () => {
    for (const body of [
      [],
      "text",
      { kind: "Secret", apiVersion: "v1" },
      { apiVersion: "v2" },
      { data: { a: 1 } },
      { metadata: { labels: { a: 1 } } },
    ])
      expect((await api.call("POST", configMaps, body)).body).toMatchObject({
        code: 400,
        reason: "BadRequest",
      });
  });

  it("refuses labels, annotations, finalizers and owners that are malformed, all at once", async () => {
    const { body } = await api.call("POST", configMaps, {
      metadata: {
        name: "bad",
        labels: { "a b": "x", ok: "no spaces please" },
        annotations: { "/x": "" },
        finalizers: ["not/a/name"],
        ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "p" }],
      },
    });
    expect(body).toMatchObject({ code: 422, reason: "Invalid" });
    const fields = [
      "metadata.labels",
      "metadata.labels",
      "metadata.annotations",
      "metadata.ownerReferences.uid",
      "metadata.finalizers",
    ];
    expect(field(body, "details", "causes")).toMatchObject(
      fields.map((name) => ({ reason: "FieldValueInvalid", field: name })),
    );
  });

  it("keeps a key called __proto__ as data and nothing else", async () => {
    const sent = '{"metadata":{"name":"proto"},"data":{"__proto__":"x","constructor":"y"}}';
    await api.fetch(configMaps, {
      method: "POST",
      body: sent,
      headers: { "content-type": "application/json" },
    });
    await api.patch(
      `${configMaps}/proto`,
      JSON.parse('{"data":{"__proto__":"z"},"metadata":{"labels":{"a":"b"}}}') as never,
    );
    const text = await (await api.fetch(`${configMaps}/proto`)).text();
    expect(text).toContain('"data":{"__proto__":"z","constructor":"y"}');
    expect(Object.getOwnPropertyNames(Object.prototype)).not.toContain("labels");
  });

  it("leaves nothing behind on a dry run", async () => {
    const before = api.resourceVersion;
    const { code, body } = await api.call("POST", `${configMaps}?dryRun=All`, configMap("dry"));
    expect([code, textAt(body, "metadata", "name")]).toEqual([201, "dry"]);
    expect((await api.call("GET", `${configMaps}/dry`)).code).toBe(404);
    expect(api.resourceVersion).toBe(before);
    expect((await api.call("POST", `${configMaps}?dryRun=Some`, configMap("dry"))).code).toBe(422);
  });

  it("drops unknown fields: with a warning, as an error, or silently", async () => {
    const odd = configMap("odd", { data: {}, dat: {} });
    const strict = await api.call("POST", `${configMaps}?fieldValidation=Strict`, odd);
    expect(strict.body).toMatchObject({
      code: 400,
      message:
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "dat"',
    });
    const warned = await api.call("POST", configMaps, odd);
    expect(warned.headers.get("warning")).toBe('299 - "unknown field \\"dat\\""');
    expect(warned.body).not.toHaveProperty("dat");
    const ignored = await api.call("PUT", `${configMaps}/odd?fieldValidation=Ignore`, odd);
    expect(ignored.headers.get("warning")).toBeNull();
  });

  it("encodes a Secret's stringData and defaults its type", async () => {
    const { body } = await api.call("POST", "/api/v1/namespaces/default/secrets", {
      metadata: { name: "s" },
      stringData: { a: "b" },
    });
    expect(body).toMatchObject({ type: "Opaque", data: { a: "Yg==" } });
    expect(body).not.toHaveProperty("stringData");
  });
});

describe("updating", () => {
  it("refuses a patch after which it cannot be read, and stays as it is", async () => {
    await api.call("POST", configMaps, configMap("patched", { data: { a: "1" } }));
    const { body } = await api.patch(`${configMaps}/patched`, { data: { a: 1 } });
    expect(body).toMatchObject({
      code: 422,
      reason: "Invalid",
      message: containing("cannot be handled as a ConfigMap"),
      details: { causes: [{ field: "patch" }] },
    });
    expect((await api.call("GET", `${configMaps}/patched`)).body).toMatchObject({ data: { a: "1" } });
  });

  it("refuses a write made from an older version", async () => {
    const { body: first } = await api.call("POST", configMaps, configMap("race"));
    expect((await api.call("PUT", `${configMaps}/race`, { ...first, data: { a: "1" } })).code).toBe(200);
    const late = await api.call("PUT", `${configMaps}/race`, { ...first, data: { a: "2" } });
    expect(late.body).toMatchObject({
      code: 409,
      reason: "Conflict",
      message:
        'Operation cannot be fulfilled on configmaps "race": the object has been modified; please apply your changes to the latest version and try again',
    });
    const patched = await api.patch(`${configMaps}/race`, {
      metadata: { resourceVersion: versionOf(first) },
    });
    expect(patched.code).toBe(409);
  });

  it("lets system metadata be: some kept, some refused", async () => {
    const { body: first } = await api.call("POST", configMaps, configMap("fixed"));
    const kept = await api.call("PUT", `${configMaps}/fixed`, configMap("fixed", { data: { a: "1" } }));
    expect(kept.body["metadata"]).toMatchObject({
      uid: textAt(first, "metadata", "uid"),
      creationTimestamp: textAt(first, "metadata", "creationTimestamp"),
    });
    const uid = await api.patch(`${configMaps}/fixed`, { metadata: { uid: "other" } });
    expect(uid.body).toMatchObject({
      code: 422,
      message: containing('metadata.uid: Invalid value: "other": field is immutable'),
    });
    const put = await api.call("PUT", `${configMaps}/fixed`, { metadata: { name: "fixed", uid: "other" } });
    expect(put.body).toMatchObject({ code: 409, reason: "Conflict" });
    const name = await api.patch(`${configMaps}/fixed`, { metadata: { name: "other" } });
    expect(name.body).toMatchObject({
      code: 400,
      message: "the name of the object (other) does not match the name on the URL (fixed)",
    });
    const deleted = await api.patch(`${configMaps}/fixed`, {
      metadata: { deletionTimestamp: "2030-01-01T00:00:00Z" },
    });
    expect(deleted.body).toMatchObject({
      code: 422,
      message: containing("metadata.deletionTimestamp: Invalid value"),
    });
  });

  it("does not count a write that changes nothing", async () => {
    const { body } = await api.call("POST", configMaps, configMap("same", { data: { a: "1" } }));
    const again = await api.call("PUT", `${configMaps}/same`, body);
    const patched = await api.patch(`${configMaps}/same`, { data: { a: "1" } });
    expect([versionOf(again.body), versionOf(patched.body)]).toEqual([versionOf(body), versionOf(body)]);
  });

  it("replaces with PUT, and creates nothing", async () => {
    const missing = await api.call("PUT", `${configMaps}/absent`, configMap("absent"));
    expect(missing.body).toMatchObject({ code: 404, message: 'configmaps "absent" not found' });
    const leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
    await api.call("POST", leases, { metadata: { name: "l" } });
    const unversioned = await api.call("PUT", `${leases}/l`, { metadata: { name: "l" } });
    expect(unversioned.body).toMatchObject({
      code: 422,
      details: { causes: [{ field: "metadata.resourceVersion" }] },
    });
  });
});

describe("deleting", () => {
  it("answers a Status, and 404 the second time", async () => {
    const { body } = await api.call("POST", configMaps, configMap("gone"));
    const first = await api.call("DELETE", `${configMaps}/gone`);
    expect(first.body).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Success",
      details: { name: "gone", kind: "configmaps", uid: textAt(body, "metadata", "uid") },
    });
    expect((await api.call("DELETE", `${configMaps}/gone`)).code).toBe(404);
  });

  it("keeps to its preconditions", async () => {
    const { body } = await api.call("POST", configMaps, configMap("guarded"));
    const wrong = await api.call("DELETE", `${configMaps}/guarded`, { preconditions: { uid: "other" } });
    expect(wrong.body).toMatchObject({
      code: 409,
      reason: "Conflict",
      message: containing("the UID in the precondition (other)"),
    });
    const old = await api.call("DELETE", `${configMaps}/guarded`, {
      preconditions: { resourceVersion: "1" },
    });
    expect(old.code).toBe(409);
    const right = {
      preconditions: { uid: textAt(body, "metadata", "uid") ?? "", resourceVersion: versionOf(body) },
    };
    expect((await api.call("DELETE", `${configMaps}/guarded`, right)).code).toBe(200);
  });

  it("waits for the last finalizer, and takes no new one meanwhile", async () => {
    await api.call("POST", configMaps, { metadata: { name: "held", finalizers: ["a.io/1", "a.io/2"] } });
    const { code, body } = await api.call("DELETE", `${configMaps}/held`);
    expect(code).toBe(200);
    expect(body).toMatchObject({
      kind: "ConfigMap",
      metadata: { deletionTimestamp: "2030-01-02T03:04:05Z", deletionGracePeriodSeconds: 0 },
    });
    const again = await api.call("DELETE", `${configMaps}/held`);
    expect(versionOf(again.body)).toBe(versionOf(body));
    const added = await api.patch(`${configMaps}/held`, { metadata: { finalizers: ["a.io/1", "a.io/3"] } });
    expect(added.body).toMatchObject({
      code: 422,
      message: containing("metadata.finalizers: Forbidden"),
    });
    const undone = await api.patch(`${configMaps}/held`, {
      metadata: { deletionTimestamp: null, finalizers: ["a.io/1"] },
    });
    expect(undone.body).toMatchObject({
      metadata: { finalizers: ["a.io/1"], deletionTimestamp: "2030-01-02T03:04:05Z" },
    });
    const taken = await api.call("POST", configMaps, configMap("held"));
    expect(taken.body).toMatchObject({
      code: 409,
      message: 'object is being deleted: configmaps "held" already exists',
    });
    const trial = await api.patch(`${configMaps}/held?dryRun=All`, { metadata: { finalizers: null } });
    expect([trial.code, (await api.call("GET", `${configMaps}/held`)).code]).toEqual([200, 200]);
    const last = await api.patch(`${configMaps}/held`, { metadata: { finalizers: null } });
    expect(last.code).toBe(200);
    expect((await api.call("GET", `${configMaps}/held`)).code).toBe(404);
  });
});

describe("namespaces", () => {
  it("carry their name as a label", async () => {
    const { body } = await api.call("GET", "/api/v1/namespaces/default");
    expect(body).toMatchObject({
      metadata: { labels: { "kubernetes.io/metadata.name": "default" } },
      status: { phase: "Active" },
    });
  });

  it("take their content along, wait for what is held, and take in nothing new", async () => {
    const home = "/api/v1/namespaces/short";
    await api.call("POST", "/api/v1/namespaces", { metadata: { name: "short" } });
    await api.call("POST", `${home}/configmaps`, configMap("free"));
    await api.call("POST", `${home}/configmaps`, { metadata: { name: "held", finalizers: ["a.io/x"] } });
    const { body } = await api.call("DELETE", home);
    expect(body).toMatchObject({ kind: "Namespace", status: { phase: "Terminating" } });
    expect((await api.call("GET", `${home}/configmaps/free`)).code).toBe(404);
    const late = await api.call("POST", `${home}/configmaps`, configMap("late"));
    expect(late.body).toMatchObject({
      code: 403,
      reason: "Forbidden",
      details: { causes: [{ reason: "NamespaceTerminating" }] },
    });
    await api.patch(`${home}/configmaps/held`, { metadata: { finalizers: [] } });
    expect((await api.call("GET", home)).code).toBe(404);
  });
});

describe("namespaces without controllers", () => {
  it("stay Terminating, and three of them for ever", async () => {
    const alone = await startClient({ controllers: false });
    const home = "/api/v1/namespaces/stays";
    await alone.call("POST", "/api/v1/namespaces", { metadata: { name: "stays" } });
    await alone.call("POST", `${home}/configmaps`, configMap("free"));
    await alone.call("DELETE", home);
    expect((await alone.call("GET", `${home}/configmaps/free`)).code).toBe(200);
    expect((await alone.call("GET", home)).body).toMatchObject({ status: { phase: "Terminating" } });
    expect((await alone.call("DELETE", "/api/v1/namespaces/default")).code).toBe(403);
    await alone.close();
  });
});

describe("what is not there", () => {
  it("answers 404 for resources and groups that are not served, in the two ways of a real server", async () => {
    expect((await api.call("GET", "/api/v1/things")).body).toMatchObject({
      code: 404,
      message: "the server could not find the requested resource",
    });
    expect((await api.call("GET", "/api/v1/configmaps/x")).body).toMatchObject({ code: 404 });
    const text = await api.fetch("/apis/nowhere.io/v1/things");
    expect([text.status, await text.text()]).toEqual([404, "404 page not found\n"]);
  });

  it("answers 404 for a name that is not UTF-8, and shows its bytes", async () => {
    expect((await api.call("GET", `${configMaps}/%61%FF%C3%A9%C3`)).body).toMatchObject({
      code: 404,
      message: 'configmaps "a\\xffé\\xc3" not found',
    });
  });

  it("answers 405 for verbs that a path does not have", async () => {
    for (const [method, path] of [
      ["POST", `${configMaps}/x`],
      ["PUT", configMaps],
      ["PATCH", configMaps],
      ["POST", "/api/v1/configmaps"],
    ] as const)
      expect((await api.call(method, path, {})).body).toMatchObject({
        code: 405,
        reason: "MethodNotAllowed",
      });
  });
});

describe("bodies", () => {
  it("are limited in size, depth and media type", async () => {
    const big = await api.call(
      "POST",
      configMaps,
      configMap("big", { data: { a: "x".repeat(3 * 1024 * 1024) } }),
    );
    expect(big.body).toMatchObject({ code: 413, reason: "RequestEntityTooLarge" });
    const chunks = Array.from({ length: 4 }, () => new Uint8Array(1024 * 1024));
    const headers = { "content-type": "application/json" };
    const streamed = { method: "POST", body: ReadableStream.from(chunks), duplex: "half", headers } as const;
    expect((await api.fetch(configMaps, streamed)).status).toBe(413);
    const send = async (body: string, type = "application/json"): Promise<number> =>
      (await api.fetch(configMaps, { method: "POST", body, headers: { "content-type": type } })).status;
    expect(await send("[".repeat(10_000) + "]".repeat(10_000))).toBe(400);
    expect(await send("{")).toBe(400);
    expect(await send("kind: ConfigMap", "application/yaml")).toBe(415);
  });
});
