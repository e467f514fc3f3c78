// The sandbox makes all changes of a request before the answer; a real server takes its time.
import { afterEach, beforeEach, expect, it } from "vitest";
import { listAt } from "../json.ts";
import { definitions, startClient, widget, widgetDefinition, widgets } from "../testing/client.ts";
import type { Client } from "../testing/client.ts";

let api: Client;
const at = `${definitions}/widgets.example.com`;
beforeEach(async () => {
  api = await startClient();
  await api.call("POST", definitions, widgetDefinition());
});
afterEach(() => api.close());

it("a definition is served at once", async () => {
  expect((await api.call("GET", widgets)).body).toMatchObject({ kind: "WidgetList", items: [] });
});

it("a definition takes its objects with it, once nothing holds them", async () => {
  await api.call("POST", widgets, widget("free"));
  await api.call("POST", widgets, widget("held", { size: 1 }, { finalizers: ["a.io/x"] }));
  await api.call("DELETE", at);
  expect(listAt((await api.call("GET", widgets)).body, "items")).toHaveLength(1);
  expect((await api.call("POST", widgets, widget("late"))).code).toBe(403);
  await api.patch(`${widgets}/held`, { metadata: { finalizers: null } });
  expect((await api.call("GET", at)).code).toBe(404);
  expect((await api.fetch(widgets)).status).toBe(404);
});

it("a changed schema is served at once", async () => {
  await api.call("POST", widgets, widget("old"));
  const weight = { type: "integer", default: 7 };
  const openAPIV3Schema = {
    type: "object",
    properties: { spec: { type: "object", properties: { weight } } },
  };
  const [version] = listAt(widgetDefinition({ schema: { openAPIV3Schema } }), "spec", "versions");
  await api.patch(at, { spec: { versions: [version ?? {}] } });
  expect((await api.call("GET", `${widgets}/old`)).body["spec"]).toEqual({ weight: 7 });
});
