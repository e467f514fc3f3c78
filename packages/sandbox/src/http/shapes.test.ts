import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { field, listAt, objectAt, textAt, textsAt } from "../json.ts";
import { jsonPath } from "./json-path.ts";
import { humanDuration } from "./table.ts";
import {
  configMap,
  configMaps,
  definitions,
  startClient,
  widget,
  widgetDefinition,
  widgets,
  matching,
} from "../testing/client.ts";
import type { Client } from "../testing/client.ts";

let api: Client;
let time = new Date("2030-01-01T00:00:00Z");
beforeAll(async () => {
  api = await startClient({ now: () => time });
  await api.call("POST", definitions, widgetDefinition());
  await api.call("POST", widgets, widget("one", { size: 3 }));
  await api.patch(`${widgets}/one/status`, {
    status: {
      conditions: [
        { type: "Other", status: "False" },
        { type: "Ready", status: "True" },
      ],
    },
  });
  await api.call("POST", configMaps, configMap("m", { data: { a: "1" } }));
  time = new Date("2030-01-01T02:05:06Z");
});
afterAll(() => api.close());

const as = (shape: string): Record<string, string> => ({
  accept: `application/json;as=${shape};g=meta.k8s.io;v=v1,application/json`,
});

describe("tables", () => {
  it("have the columns of the definition and metadata in their rows", async () => {
    const { body } = await api.call("GET", widgets, undefined, as("Table"));
    expect(body).toMatchObject({
      kind: "Table",
      apiVersion: "meta.k8s.io/v1",
      metadata: { resourceVersion: api.resourceVersion },
    });
    expect(listAt(body, "columnDefinitions").map((one) => textAt(one, "name"))).toEqual([
      "Name",
      "Size",
      "Ready",
      "Age",
    ]);
    expect(body["rows"]).toMatchObject([
      {
        cells: ["one", 3, "True", "125m"],
        object: { kind: "PartialObjectMetadata", metadata: { name: "one" } },
      },
    ]);
  });

  it("carry whole objects or none when asked to, also for one object", async () => {
    const whole = await api.call("GET", `${widgets}/one?includeObject=Object`, undefined, as("Table"));
    expect(objectAt(listAt(whole.body, "rows")[0], "object", "spec")).toEqual({ size: 3, colour: "red" });
    const none = await api.call("GET", `${widgets}?includeObject=None`, undefined, as("Table"));
    expect(field(listAt(none.body, "rows")[0], "object")).toBeNull();
    expect((await api.call("GET", `${widgets}?includeObject=Half`, undefined, as("Table"))).code).toBe(400);
  });
});

describe("metadata alone", () => {
  it("is shown of one object and of lists", async () => {
    const one = await api.call("GET", `${configMaps}/m`, undefined, as("PartialObjectMetadata"));
    expect(one.body).toMatchObject({
      kind: "PartialObjectMetadata",
      apiVersion: "meta.k8s.io/v1",
      metadata: { name: "m" },
    });
    expect(one.body).not.toHaveProperty("data");
    const list = await api.call("GET", configMaps, undefined, as("PartialObjectMetadataList"));
    expect(list.body).toMatchObject({
      kind: "PartialObjectMetadataList",
      items: [{ kind: "PartialObjectMetadata", metadata: { name: "m" } }],
    });
    const wrong = await api.call("GET", configMaps, undefined, as("PartialObjectMetadata"));
    expect(wrong.body).toMatchObject({ code: 406, reason: "NotAcceptable" });
    expect(
      (await api.call("GET", configMaps, undefined, { accept: "application/vnd.kubernetes.protobuf" })).code,
    ).toBe(406);
  });
});

describe("events", () => {
  it("are the same objects in both of their groups", async () => {
    const newer = "/apis/events.k8s.io/v1/namespaces/default/events";
    const event = {
      metadata: { name: "e" },
      regarding: { kind: "Pod", name: "p" },
      note: "hello",
      reportingController: "c",
      eventTime: "2030-01-01T00:00:00.000000Z",
    };
    await api.call("POST", newer, event);
    const { body } = await api.call("GET", "/api/v1/namespaces/default/events/e");
    expect(body).toMatchObject({
      apiVersion: "v1",
      involvedObject: { name: "p" },
      message: "hello",
      reportingComponent: "c",
    });
    await api.patch("/api/v1/namespaces/default/events/e", { count: 2 });
    expect((await api.call("GET", `${newer}/e`)).body).toMatchObject({
      apiVersion: "events.k8s.io/v1",
      note: "hello",
      deprecatedCount: 2,
    });
  });
});

describe("discovery", () => {
  it("names groups, versions and resources, those of definitions included", async () => {
    const groups = await api.call("GET", "/apis");
    expect(listAt(groups.body, "groups").map((group) => textAt(group, "name"))).toContain("example.com");
    expect((await api.call("GET", "/apis/example.com")).body).toMatchObject({
      kind: "APIGroup",
      preferredVersion: { groupVersion: "example.com/v1" },
    });
    const { body } = await api.call("GET", "/apis/example.com/v1");
    expect(body["resources"]).toEqual([
      expect.objectContaining({
        name: "widgets",
        singularName: "widget",
        namespaced: true,
        kind: "Widget",
        shortNames: ["wd"],
        categories: ["all"],
      }),
      expect.objectContaining({ name: "widgets/status", verbs: ["get", "patch", "update"] }),
    ]);
    const core = await api.call("GET", "/api/v1");
    expect(listAt(core.body, "resources").map((one) => textAt(one, "name"))).toEqual(
      expect.arrayContaining(["pods", "pods/status", "configmaps", "secrets", "events", "services"]),
    );
    expect(textsAt((await api.call("GET", "/api")).body, "versions")).toEqual(["v1"]);
    expect((await api.fetch("/apis/nowhere.io/v1")).status).toBe(404);
  });

  it("says that patches take fieldValidation, which is what kubectl apply looks for", async () => {
    const root = await api.call("GET", "/openapi/v3");
    const path = textAt(root.body, "paths", "apis/example.com/v1", "serverRelativeURL") ?? "";
    const { body } = await api.call("GET", path);
    const patch = objectAt(
      body,
      "paths",
      "/apis/example.com/v1/namespaces/{namespace}/widgets/{name}",
      "patch",
    );
    expect(patch["x-kubernetes-group-version-kind"]).toEqual({
      group: "example.com",
      version: "v1",
      kind: "Widget",
    });
    expect(listAt(patch, "parameters").map((one) => textAt(one, "name"))).toContain("fieldValidation");
  });

  it("is healthy and has a version", async () => {
    for (const path of ["/healthz", "/livez", "/readyz"])
      expect(await (await fetch(api.url + path)).text()).toBe("ok");
    expect((await api.call("GET", "/version")).body).toMatchObject({
      major: "1",
      gitVersion: matching(/^v1\.\d+\.\d+/),
    });
  });
});

describe("JSON paths of columns", () => {
  const object = {
    a: {
      b: [
        { c: 1, t: "x" },
        { c: 2, t: "y" },
      ],
      "d.e": 3,
      on: true,
    },
  };
  it.each([
    [".a.b[0].c", [1]],
    [".a.b[*].c", [1, 2]],
    [".a['d.e']", [3]],
    [".a.d\\.e", [3]],
    ['.a.b[?(@.t=="y")].c', [2]],
    [".a.b[?(@.c==1)].t", ["x"]],
    [".a.nothing", []],
    ["{.a", []],
  ])("%s finds %j", (path, found) => expect(jsonPath(path)(object)).toEqual(found));
});

describe("ages", () => {
  it.each([
    [0, "0s"],
    [119, "119s"],
    [125, "2m5s"],
    [600, "10m"],
    [3 * 3600, "3h"],
    [4 * 3600 + 60, "4h1m"],
    [30 * 3600, "30h"],
    [50 * 3600, "2d2h"],
    [30 * 86400, "30d"],
    [3 * 365 * 86400, "3y"],
    [-5, "<invalid>"],
  ])("of %i seconds are %s", (seconds, text) => expect(humanDuration(seconds)).toBe(text));
});
