import { expect, it } from "vitest";
import { validated } from "../../packages/sandbox/src/schema/schema-validation.ts";
import { repeatedItems } from "../../packages/sandbox/src/schema/schema-fitting.ts";
import type { Json, JsonObject } from "../../packages/sandbox/src/json.ts";
import { exampleOf } from "./examples.ts";
import { mutationsOf } from "./mutations.ts";

const text = { type: "string" };
const schema: JsonObject = {
  type: "object",
  required: ["spec"],
  properties: {
    metadata: { type: "object" },
    spec: {
      type: "object",
      required: ["name", "count"],
      properties: {
        name: { ...text, minLength: 2, maxLength: 5, pattern: "^a+$" },
        count: { type: "integer", minimum: 1, maximum: 3 },
        exact: { type: "number", minimum: 0, exclusiveMinimum: true, multipleOf: 0.5 },
        choice: { ...text, enum: ["x", "y"] },
        at: { ...text, format: "date-time" },
        on: { type: "boolean" },
        tags: { type: "array", items: text, minItems: 1, maxItems: 3, "x-kubernetes-list-type": "set" },
        labels: { type: "object", additionalProperties: text, maxProperties: 2 },
        mixed: { "x-kubernetes-int-or-string": true },
      },
    },
  },
};
const example = exampleOf(schema, "all") as JsonObject;
const faults = (value: Json): number =>
  validated(value, schema, "").length + repeatedItems(value, schema, "").length;
const all = (most = 1000, seen = new Set<string>()) => mutationsOf(example, schema, seen, most);

it("an example of a schema is valid, with all fields and with those it requires", () => {
  expect(faults(example)).toBe(0);
  expect(exampleOf(schema, "least")).toEqual({ spec: { name: "aa", count: 1 } });
});

it("every word of a schema is broken by itself, and breaks the object", () => {
  const harmless = all().filter(({ object, word }) => word !== "unknown field" && faults(object) === 0);
  // A server takes a list for a text with a format, too.
  expect(harmless.map(({ word, place }) => `${word} at ${place}`)).toEqual(["type at .spec.at"]);
  expect(new Set(all().map(({ word }) => word))).toEqual(
    new Set([
      ...["type", "null", "enum", "format", "pattern", "minimum", "maximum", "multipleOf", "minLength"],
      ...["maxLength", "minItems", "maxItems", "maxProperties", "twice", "null item", "unknown field"],
      ...["required spec", "required name", "required count"],
    ]),
  );
});

it("a word that was broken in one object is not broken in the next", () => {
  const seen = new Set<string>();
  const [first, second] = [all(10, seen), all(1000, seen)];
  expect(first).toHaveLength(10);
  expect(first.length + second.length).toBe(all().length);
});

it("types, metadata and status are left alone", () => {
  const whole = { ...example, metadata: { name: "a" }, kind: "Cup", status: { a: 1 } };
  const places = mutationsOf(whole, schema, new Set(), 1000).map(({ place }) => place);
  expect(places.filter((place) => /^\.(metadata|kind|status)/.test(place))).toEqual([]);
});
