// A kind with every way in which lists and maps merge, for contracts.
import type { JsonObject } from "../json.ts";
import { definitions, widgetDefinition } from "./client.ts";
import type { AnyServer } from "./real-client.ts";

const string = { type: "string" };
const integer = { type: "integer" };
const fields = (properties: JsonObject): JsonObject => ({ type: "object", properties });
const list = (items: JsonObject, type: string, keys?: readonly string[]): JsonObject => ({
  type: "array",
  items,
  "x-kubernetes-list-type": type,
  ...(keys && { "x-kubernetes-list-map-keys": keys }),
});

const part = {
  ...fields({
    name: string,
    port: { ...integer, default: 80 },
    image: string,
    sub: fields({ a: string, b: string }),
  }),
  required: ["name"],
};
const condition = { ...fields({ type: string, status: string }), required: ["type"] };

const schema = fields({
  spec: fields({
    size: integer,
    on: { type: "boolean" },
    colour: { ...string, default: "red" },
    maybe: { ...string, nullable: true },
    tags: list(string, "set"),
    parts: list(part, "map", ["name", "port"]),
    plain: list(fields({ a: string }), "atomic"),
    limits: { type: "object", additionalProperties: integer },
    whole: { ...fields({ a: string, b: string }), "x-kubernetes-map-type": "atomic" },
    free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    nested: fields({ a: string, b: fields({ c: string }) }),
  }),
  status: fields({ seen: integer, pods: string, conditions: list(condition, "map", ["type"]) }),
});

const scale = {
  specReplicasPath: ".spec.size",
  statusReplicasPath: ".status.seen",
  labelSelectorPath: ".status.pods",
};

/** Defines Widgets with status and scale, and waits until the server has them. */
export async function defineWidgets(api: AnyServer): Promise<void> {
  const version = { subresources: { status: {}, scale }, schema: { openAPIV3Schema: schema } };
  const { code, body } = await api.call("POST", definitions, widgetDefinition(version));
  if (code !== 201) throw new Error(`Widgets are not defined: ${JSON.stringify(body)}`);
  for (;;) if (await isServed(api)) return;
}

const isServed = async (api: AnyServer): Promise<boolean> => {
  const text = await api.text("/apis/example.com/v1/namespaces/default/widgets");
  return text.includes('"kind":"WidgetList"');
};
