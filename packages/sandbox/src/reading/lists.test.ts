import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listAt, textAt } from "../json.ts";
import { nameOf, versionOf } from "../kube-object.ts";
import { isObject } from "../json.ts";
import { configMap, configMaps, containing, startClient } from "../testing/client.ts";
import type { Client, Reply } from "../testing/client.ts";

let api: Client;
beforeAll(async () => {
  api = await startClient();
  await api.call("POST", "/api/v1/namespaces", { metadata: { name: "a-b" } });
  await api.call("POST", "/api/v1/namespaces", { metadata: { name: "a" } });
  const labels = [{ app: "web", tier: "1" }, { app: "web", tier: "2" }, { app: "db" }, {}];
  for (const [i, one] of labels.entries()) await api.call("POST", configMaps, configMap(`m${i}`, {}, one));
  for (const home of ["a-b", "a"])
    await api.call("POST", `/api/v1/namespaces/${home}/configmaps`, configMap("x"));
});
afterAll(() => api.close());

const names = ({ body }: Reply): string[] => listAt(body, "items").filter(isObject).map(nameOf);
const list = (query: string, path = configMaps): Promise<Reply> => api.call("GET", `${path}?${query}`);
const encoded = (selector: string): string => `labelSelector=${encodeURIComponent(selector)}`;

describe("a list", () => {
  it("is in the order of keys, within a namespace and across all", async () => {
    const all = await list("", "/api/v1/configmaps");
    expect(
      listAt(all.body, "items").map(
        (item) => `${textAt(item, "metadata", "namespace")}/${textAt(item, "metadata", "name")}`,
      ),
    ).toEqual([...["a-b/x", "a/x"], ...["default/m0", "default/m1", "default/m2", "default/m3"]]);
    expect(all.body).toMatchObject({
      kind: "ConfigMapList",
      apiVersion: "v1",
      metadata: { resourceVersion: api.resourceVersion },
    });
    expect(listAt(all.body, "items")[0]).not.toHaveProperty("kind");
  });

  it("of an empty namespace has no items", async () => {
    expect((await list("", "/api/v1/namespaces/nowhere/configmaps")).body["items"]).toEqual([]);
  });

  it.each([
    ["app=web", ["m0", "m1"]],
    ["app==web,tier=1", ["m0"]],
    ["app!=web", ["m2", "m3"]],
    ["app in (web, db),tier notin (2)", ["m0", "m2"]],
    ["!app", ["m3"]],
    ["tier", ["m0", "m1"]],
    ["tier>1", ["m1"]],
    ["app in (),x", []],
  ])("selects by the labels %s", async (selector, expected) => {
    expect(names(await list(encoded(selector)))).toEqual(expected);
  });

  it("selects by fields", async () => {
    expect(names(await list("fieldSelector=metadata.name%3Dm1"))).toEqual(["m1"]);
    expect(names(await list("fieldSelector=metadata.name!%3Dm1,metadata.namespace%3Ddefault"))).toEqual([
      "m0",
      "m2",
      "m3",
    ]);
    const events = "/api/v1/namespaces/default/events";
    await api.call("POST", events, {
      metadata: { name: "e1" },
      involvedObject: { kind: "Pod", name: "p", uid: "1" },
      reason: "Made",
    });
    await api.call("POST", events, {
      metadata: { name: "e2" },
      involvedObject: { kind: "Pod", name: "q", uid: "2" },
    });
    expect(
      names(await list("fieldSelector=involvedObject.name%3Dp,involvedObject.uid%3D1,reason%3DMade", events)),
    ).toEqual(["e1"]);
  });

  it.each([
    encoded("a b c"),
    encoded("=x"),
    "fieldSelector=data%3Dx",
    "fieldSelector=nonsense",
    "limit=many",
    "resourceVersion=abc",
    "continue=abc",
  ])("refuses the query %s", async (query) =>
    expect((await list(query)).body).toMatchObject({ code: 400, reason: "BadRequest" }),
  );

  it("refuses resourceVersionMatch where it means nothing", async () => {
    for (const query of [
      "resourceVersionMatch=Exact",
      "resourceVersionMatch=Exact&resourceVersion=0",
      "resourceVersionMatch=Other&resourceVersion=1",
      "sendInitialEvents=true",
    ])
      expect((await list(query)).body).toMatchObject({
        code: 422,
        reason: "Invalid",
        message: containing('ListOptions.meta.k8s.io "" is invalid'),
      });
  });
});

describe("a list in pages", () => {
  it("stays at the version of its first page", async () => {
    const first = await list("limit=2");
    expect(names(first)).toEqual(["m0", "m1"]);
    expect(first.body["metadata"]).toMatchObject({
      remainingItemCount: 2,
      resourceVersion: api.resourceVersion,
    });
    const token = textAt(first.body, "metadata", "continue") ?? "";
    await api.call("POST", configMaps, configMap("m22"));
    await api.call("DELETE", `${configMaps}/m3`);
    const second = await list(`limit=2&continue=${token}`);
    expect(names(second)).toEqual(["m2", "m3"]);
    expect(versionOf(second.body)).toBe(versionOf(first.body));
    expect(second.body["metadata"]).not.toHaveProperty("continue");
    await api.call("POST", configMaps, configMap("m3"));
    await api.call("DELETE", `${configMaps}/m22`);
  });

  it("does not count what remains under a selector", async () => {
    const { body } = await list(`limit=1&${encoded("app")}`);
    expect(textAt(body, "metadata", "continue")).toBeDefined();
    expect(body["metadata"]).not.toHaveProperty("remainingItemCount");
  });

  it("answers 410 when its version is forgotten, with a token that goes on without it", async () => {
    const token = textAt((await list("limit=2")).body, "metadata", "continue") ?? "";
    await api.patch(`${configMaps}/m3`, { data: { a: "1" } });
    api.faults.compact();
    const gone = await list(`limit=2&continue=${token}`);
    expect(gone.body).toMatchObject({ code: 410, reason: "Expired" });
    const rest = await list(`limit=2&continue=${textAt(gone.body, "metadata", "continue") ?? ""}`);
    expect(names(rest)).toEqual(["m2", "m3"]);
  });
});

describe("a list at a version", () => {
  it("is what was there then", async () => {
    const version = api.resourceVersion;
    await api.call("DELETE", `${configMaps}/m0`);
    await api.patch(`${configMaps}/m1`, { data: { a: "changed" } });
    const then = await list(`resourceVersion=${version}&resourceVersionMatch=Exact`);
    expect(names(then)).toEqual(["m0", "m1", "m2", "m3"]);
    expect(listAt(then.body, "items")[1]).not.toHaveProperty("data");
    expect(versionOf(then.body)).toBe(version);
    expect(names(await list(`resourceVersion=${version}&resourceVersionMatch=NotOlderThan`))).toEqual([
      "m1",
      "m2",
      "m3",
    ]);
    expect(names(await list("resourceVersion=0"))).toEqual(["m1", "m2", "m3"]);
    api.faults.compact();
    expect((await list(`resourceVersion=${version}&resourceVersionMatch=Exact`)).body).toMatchObject({
      code: 410,
      reason: "Expired",
    });
  });

  it("that has not happened yet answers 504 with a time to retry", async () => {
    const { code, body, headers } = await list("resourceVersion=999999");
    expect(code).toBe(504);
    expect(headers.get("retry-after")).toBe("1");
    expect(body).toMatchObject({
      reason: "Timeout",
      details: { retryAfterSeconds: 1, causes: [{ reason: "ResourceVersionTooLarge" }] },
    });
    expect((await list("resourceVersion=999999", `${configMaps}/m1`)).code).toBe(504);
  });
});
