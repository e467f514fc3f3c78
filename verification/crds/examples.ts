// Objects made from a schema: with what it requires alone, and with all that it names. They need not be valid: both
// servers are asked.
import {
  field,
  isObject,
  listAt,
  numberAt,
  objectAt,
  textAt,
  textsAt,
} from "../../packages/sandbox/src/json.ts";
import type { Json, JsonObject } from "../../packages/sandbox/src/json.ts";

export type Extent = "least" | "all";

const ofFormat: Readonly<Record<string, string>> = {
  "date-time": "2024-01-02T03:04:05Z",
  date: "2024-01-02",
  byte: "YQ==",
  uri: "https://example.com/a",
  email: "a@example.com",
  hostname: "example.com",
  ipv4: "10.0.0.1",
  ipv6: "::1",
  cidr: "10.0.0.0/8",
  mac: "00:11:22:33:44:55",
  uuid: "123e4567-e89b-12d3-a456-426614174000",
  duration: "5m",
};

function textOf(schema: Json): string {
  const text = ofFormat[textAt(schema, "format") ?? ""] ?? "a";
  return text.padEnd(numberAt(schema, "minLength") ?? 0, "a");
}

function numberOf(schema: Json): number {
  const step = field(schema, "exclusiveMinimum") === true ? 1 : 0;
  const least = numberAt(schema, "minimum");
  const most = numberAt(schema, "maximum");
  if (least !== undefined) return step === 0 ? least : least + (numberAt(schema, "multipleOf") ?? 1);
  return most !== undefined && most < 1 ? most : (numberAt(schema, "multipleOf") ?? 1);
}

/** Deeper than that no object is made. */
const deepest = 8;

function objectOf(schema: Json, extent: Extent, depth: number): JsonObject {
  const properties = objectAt(schema, "properties");
  // Of several ways the first is taken.
  const ways = ["oneOf", "anyOf"].flatMap((key) => textsAt(listAt(schema, key)[0], "required"));
  const needed = new Set([...textsAt(schema, "required"), ...ways]);
  const wanted = Object.keys(properties).filter(
    (key) => needed.has(key) || (extent === "all" && depth < deepest && ways.length === 0),
  );
  const others = field(schema, "additionalProperties");
  const entries = wanted.map((key): [string, Json] => [
    key,
    exampleOf(properties[key] ?? {}, extent, depth + 1),
  ]);
  const isMap = isObject(others) && (extent === "all" || numberAt(schema, "minProperties") !== undefined);
  return Object.fromEntries([
    ...entries,
    ...(isMap ? [["key", exampleOf(others, extent, depth + 1)] as [string, Json]] : []),
  ]);
}

function listOf(schema: Json, extent: Extent, depth: number): Json[] {
  const count = numberAt(schema, "minItems") ?? (extent === "all" && depth < deepest ? 1 : 0);
  const items = field(schema, "items") ?? {};
  return Array.from({ length: Math.min(count, 3) }, () => exampleOf(items, extent, depth + 1));
}

/** A value of a schema. */
export function exampleOf(schema: Json, extent: Extent, depth = 0): Json {
  const given = field(schema, "default") ?? listAt(schema, "enum")[0];
  if (given !== undefined && given !== null) return given;
  if (field(schema, "x-kubernetes-embedded-resource") === true)
    return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };
  switch (textAt(schema, "type")) {
    case "string":
      return textOf(schema);
    case "integer":
      return Math.ceil(numberOf(schema));
    case "number":
      return numberOf(schema);
    case "boolean":
      return true;
    case "array":
      return listOf(schema, extent, depth);
    case "object":
      return objectOf(schema, extent, depth);
    case undefined:
    default:
      return field(schema, "x-kubernetes-int-or-string") === true ? 1 : {};
  }
}
