// Ways to make an object wrong, or to leave something to the server, derived from its schema: each breaks one word of the
// schema at one place.
import {
  field,
  isArray,
  isObject,
  isTrueAt,
  listAt,
  numberAt,
  objectAt,
  textAt,
  textsAt,
} from "../../packages/sandbox/src/json.ts";
import type { Json, JsonObject } from "../../packages/sandbox/src/json.ts";

export interface Mutation {
  /** Which word of the schema is broken. */
  readonly word: string;
  /** Where in the schema: the same for all items of a list. */
  readonly place: string;
  readonly object: JsonObject;
}

type Change = (value: Json) => Json | undefined;
interface Idea {
  readonly word: string;
  readonly change: Change;
}

/** A value of another type, for each type. */
const stranger: Readonly<Record<string, readonly Json[]>> = {
  string: [5, ["a"]],
  integer: ["five", 1.5],
  number: ["five"],
  boolean: ["true"],
  object: [[], "a"],
  array: [{}, "a"],
  "": [{ a: 1 }, 1.5],
};

const idea = (word: string, value: Json | undefined): Idea => ({ word, change: () => value });

/** Mutations that break a keyword of one schema, for a value at its path. */
function ideasFor(value: Json, schema: Json): Idea[] {
  const type = textAt(schema, "type") ?? "";
  const free = type === "" && isTrueAt(schema, "x-kubernetes-preserve-unknown-fields");
  const ideas: Idea[] = free ? [] : (stranger[type] ?? []).map((other) => idea("type", other));
  if (!free) ideas.push(idea("null", null));
  if (listAt(schema, "enum").length > 0)
    ideas.push(idea("enum", type === "string" ? "none-of-these" : 987654));
  if (textAt(schema, "format") !== undefined && type === "string")
    ideas.push(idea("format", "no <format> at all"));
  if (textAt(schema, "pattern") !== undefined) ideas.push(idea("pattern", " &\u0007 "));
  return [...ideas, ...limitIdeas(value, schema), ...objectIdeas(value, schema)];
}

function limitIdeas(value: Json, schema: Json): Idea[] {
  const ideas: Idea[] = [];
  const add = (word: string, make: (limit: number) => Json | undefined): void => {
    const limit = numberAt(schema, word);
    const other = limit === undefined ? undefined : make(limit);
    if (other !== undefined) ideas.push(idea(word, other));
  };
  add("minimum", (least) => (isTrueAt(schema, "exclusiveMinimum") ? least : least - 1));
  add("maximum", (most) => (isTrueAt(schema, "exclusiveMaximum") ? most : most + 1));
  add("multipleOf", (factor) => factor * 1.5);
  add("minLength", (least) => (least > 0 ? "" : undefined));
  add("maxLength", (most) => (most < 100_000 ? "x".repeat(most + 1) : undefined));
  if (isArray(value)) {
    add("minItems", (least) => (least > 0 ? [] : undefined));
    add("maxItems", (most) =>
      most < 500 && value.length > 0 ? Array.from({ length: most + 1 }, () => value[0] ?? null) : undefined,
    );
    if (value.length > 0)
      ideas.push(idea("twice", [...value, value[0] ?? null]), idea("null item", [null, ...value]));
  }
  if (isObject(value)) {
    add("minProperties", (least) => (least > 0 ? {} : undefined));
    add("maxProperties", (most) =>
      most < 500 && field(schema, "additionalProperties") !== undefined
        ? Object.fromEntries(
            Array.from({ length: most + 1 }, (_, i) => [`k${i}`, Object.values(value)[0] ?? "v"]),
          )
        : undefined,
    );
  }
  return ideas;
}

/** Missing fields, and an unknown one. */
function objectIdeas(value: Json, schema: Json): Idea[] {
  if (!isObject(value)) return [];
  const without = (name: string): JsonObject =>
    Object.fromEntries(Object.entries(value).filter(([key]) => key !== name));
  return [
    ...textsAt(schema, "required")
      .filter((key) => Object.hasOwn(value, key))
      .map((key) => idea(`required ${key}`, without(key))),
    idea("unknown field", { ...value, "not-in-the-schema": { a: 1 } }),
  ];
}

/** All places in a value that the schema describes, with how to put another value there. */
function* places(
  value: Json,
  schema: Json,
  place: string,
  put: (other: Json) => Json,
): Generator<{ value: Json; schema: Json; place: string; put: (other: Json) => Json }> {
  yield { value, schema, place, put };
  const items = field(schema, "items");
  if (isArray(value) && isObject(items)) {
    const [first] = value;
    if (first !== undefined)
      yield* places(first, items, `${place}[]`, (other) => put([other, ...value.slice(1)]));
  }
  if (!isObject(value)) return;
  const properties = objectAt(schema, "properties");
  const others = field(schema, "additionalProperties");
  for (const [key, inner] of Object.entries(value)) {
    const known = Object.hasOwn(properties, key) ? properties[key] : undefined;
    const of = known ?? (isObject(others) ? others : undefined);
    const at = `${place}.${known === undefined ? "*" : key}`;
    if (of !== undefined) yield* places(inner, of, at, (other) => put({ ...value, [key]: other }));
  }
}

/**
 * Up to `most` mutations of an object, those first of which nothing is in `seen`, which notes every word at every place
 * that was broken: each is broken once, whichever object it is broken in.
 */
export function mutationsOf(
  object: JsonObject,
  schema: Json,
  seen: Set<string>,
  most: number,
): readonly Mutation[] {
  const found: Mutation[] = [];
  for (const at of places(object, schema, "", (other) => other)) {
    if (/^\.(apiVersion|kind|metadata|status)\b/.test(at.place)) continue;
    for (const [i, { word, change }] of ideasFor(at.value, at.schema).entries()) {
      const key = `${at.place} ${word} ${i}`;
      if (found.length >= most) return found;
      const other = seen.has(key) ? undefined : change(at.value);
      const changed = other === undefined ? undefined : at.put(other);
      if (!isObject(changed)) continue;
      seen.add(key);
      found.push({ word, place: at.place || "(whole)", object: changed });
    }
  }
  return found;
}
