// The managers of fields: sentences that are true of the sandbox and of a real API server.
import { afterAll, beforeAll, expect, it } from "vitest";
import { isObject, listAt, objectAt, textAt } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import { anyText, definitions, widget, widgetDefinition, widgets } from "../testing/client.ts";
import type { AnyServer } from "../testing/real-client.ts";

const as = (type: string) => ({ "content-type": `application/${type}`, "user-agent": "tester/1.2 (x)" });
const merge = as("merge-patch+json");

/** The names of the fields in an entry, down to lists. */
function fieldsIn(fieldsV1: JsonObject): string[] {
  const names = Object.keys(fieldsV1).filter((name) => name.startsWith("f:"));
  return names.flatMap((name) => {
    const below = fieldsIn(objectAt(fieldsV1, name));
    return below.length === 0 ? [name.slice(2)] : below.map((path) => `${name.slice(2)}.${path}`);
  });
}

/** The fields of each manager, sorted; the subresource stands after a slash. */
function owned(object: JsonObject): Record<string, string> {
  const entries = listAt(object, "metadata", "managedFields").filter(isObject);
  return Object.fromEntries(
    entries.map((entry): [string, string] => {
      const subresource = textAt(entry, "subresource");
      const name = `${textAt(entry, "manager") ?? ""}${subresource === undefined ? "" : `/${subresource}`}`;
      return [name, fieldsIn(objectAt(entry, "fieldsV1")).sort().join(" ")];
    }),
  );
}

/** The sentences, for a server that `start` brings. */
export function managedFieldsContract(start: () => Promise<AnyServer>): void {
  let api: AnyServer;
  beforeAll(async () => {
    api = await start();
    expect((await api.call("POST", definitions, widgetDefinition())).code).toBe(201);
    while (!(await api.text(widgets)).includes('"kind":"WidgetList"'));
  }, 900_000);
  afterAll(() => api.close());

  const sent = async (method: string, path: string, body: Json, type = as("json")): Promise<JsonObject> => {
    const reply = await api.call(method, path, body, type);
    expect(reply.code, JSON.stringify(reply.body)).toBeLessThan(300);
    return reply.body;
  };
  const at = (name: string): string => `${widgets}/${name}`;

  it("a manager owns what it sets, named by the query or by the user agent", async () => {
    const spec = { size: 1, limits: { a: 1 }, tags: ["x"], free: { x: { y: [1] } } };
    const made = await sent("POST", widgets, widget("made", spec, { labels: { l: "1" } }));
    expect(owned(made)).toEqual({
      tester: "metadata.labels.l spec.colour spec.free.x.y spec.limits.a spec.size spec.tags",
    });
    expect(listAt(made, "metadata", "managedFields")).toMatchObject([
      { apiVersion: "example.com/v1", fieldsType: "FieldsV1", operation: "Update", time: anyText },
    ]);
    const change = { spec: { size: 2 }, metadata: { annotations: { "a.b/c": "1" } } };
    const changed = await sent("PATCH", `${at("made")}?fieldManager=other`, change, merge);
    expect(owned(changed)).toEqual({
      other: "metadata.annotations.a.b/c spec.size",
      tester: "metadata.labels.l spec.colour spec.free.x.y spec.limits.a spec.tags",
    });
  });

  it("a field that is gone has no manager", async () => {
    await sent("POST", widgets, widget("less", { size: 1, limits: { a: 1 } }));
    const less = await sent("PATCH", `${at("less")}?fieldManager=other`, { spec: { limits: null } }, merge);
    expect(owned(less)).toEqual({ tester: "spec.colour spec.size" });
  });

  it("the status has managers of its own", async () => {
    await sent("POST", widgets, { ...widget("seen"), status: { seen: 9 } });
    const body = { spec: { size: 7 }, metadata: { labels: { a: "1" } }, status: { seen: 1 } };
    const seen = await sent("PATCH", `${at("seen")}/status`, body, merge);
    expect(owned(seen)).toEqual({ tester: "spec.colour spec.size", "tester/status": "status.seen" });
  });

  it("a write that changes nothing leaves version and times alone", async () => {
    const made = await sent("POST", widgets, widget("same"));
    const again = await sent("PATCH", `${at("same")}?fieldManager=other`, { spec: { size: 1 } }, merge);
    expect(again).toEqual(made);
  });
}
