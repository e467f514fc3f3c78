import {
  field,
  isArray,
  isObject,
  isString,
  type Json,
  type JsonObject,
  listAt,
  objectAt,
  omit,
} from "../../packages/sandbox/src/json.ts";

/** How the fields of one manifest are read. */
export interface Reading {
  /** Fields that have another name in Drover's `Bucket`, wherever they are in the setting. */
  readonly names: Readonly<Record<string, string>>;
  /** The value of a field that is a reference to a Bucket. Undefined if it refers to something else. */
  readonly refer: (field: string, reference: Json) => string | undefined;
  /** The value cannot be translated: its setting is left out. */
  readonly refuse: (path: string, reason: string) => void;
  /** The value is translated, and the user must know how. */
  readonly note: (path: string, reason: string) => void;
}

/** Fields that change nothing in the bucket. */
const withoutEffect: Readonly<Record<string, string>> = {
  displayName: "S3 ignores it",
  owner: "Drover reads the owner from S3",
  existingObjectReplication: "S3 no longer supports it",
  skipDestroy: "Drover removes only what it has written itself",
};

/**
 * A value in the shape of a schema of Drover's `Bucket`.
 *
 * The peers' fields are those of the S3 API in another spelling: `blockPublicACLs` or `rule` for `blockPublicAcls` and
 * `rules`. So the schema has the names, and upper and lower case, a plural `s` and a trailing `_` do not count. Crossplane
 * writes an object as a list of one object in its older versions, and tags as a map.
 *
 * @returns undefined if nothing is left. `reading.refuse` was called for each value that does not fit.
 */
export function fitSchema(value: Json, schema: JsonObject, path: string, reading: Reading): Json | undefined {
  if (value === null) return undefined;
  if (field(schema, "type") === "array") return fitList(value, objectAt(schema, "items"), path, reading);
  if (field(schema, "properties") === undefined) return value;
  if (isArray(value)) return fitListAsObject(value, schema, path, reading);
  if (isObject(value)) return fitObject(value, schema, path, reading);
  reading.refuse(path, "is no object");
  return undefined;
}

function fitList(value: Json, items: JsonObject, path: string, reading: Reading): Json {
  const list = isArray(value) ? value : isObject(value) && isTag(items) ? tagsOf(value) : [value];
  return list.flatMap((item, i) => fitSchema(item, items, `${path}[${i}]`, reading) ?? []);
}

/** A list of one object in place of the object, or the only list of an object in place of the object. */
function fitListAsObject(list: readonly Json[], schema: JsonObject, path: string, reading: Reading) {
  const [only = null] = list;
  if (list.length > 1 || isString(only)) {
    const [name = "", more] = Object.keys(objectAt(schema, "properties"));
    if (more === undefined) return fitObject({ [name]: list }, schema, path, reading);
    reading.refuse(path, "has more than one value");
  }
  return fitSchema(only, schema, path, reading);
}

function fitObject(value: JsonObject, schema: JsonObject, path: string, reading: Reading): JsonObject {
  const properties = objectAt(schema, "properties");
  const fitted: [string, Json][] = [];
  for (const [given, part] of Object.entries(peersFilter(value, properties))) {
    const at = `${path}.${given}`;
    if (part === null) continue;
    const name = matching(reading.names[given] ?? given, Object.keys(properties));
    const referred = given.replace(/(Refs?|Selector)$/, "");
    if (matching(reading.names[referred] ?? referred, Object.keys(properties)) !== name) {
      fitted.push(...fitReference(given, referred, { value, at, reading }));
      continue;
    }
    if (name === undefined) {
      const effect = withoutEffect[given];
      if (effect === undefined) reading.refuse(at, "Drover's Bucket has no such field");
      else reading.note(at, `is left out: ${effect}`);
      continue;
    }
    if (fitted.some(([other]) => other === name)) reading.refuse(at, `is a second value of ${name}`);
    const whole = fitSchema(part, objectAt(properties, name), at, reading);
    if (whole !== undefined) fitted.push([name, name === "date" ? dayOf(whole, at, reading) : whole]);
  }
  return withId(Object.fromEntries(fitted), schema, path, reading);
}

/** One spelling of a filter: a rule's own `prefix` is a filter, and so are a prefix and tags without `and`. */
function peersFilter(value: JsonObject, properties: JsonObject): JsonObject {
  const has = (name: string) => Object.hasOwn(properties, name);
  const { prefix, filter } = value;
  if (prefix !== undefined && has("filter") && !has("prefix") && isNothing(filter)) {
    return { ...omit(value, "prefix"), filter: { prefix } };
  }
  if (prefix === "" && has("filter") && !has("prefix")) return omit(value, "prefix");
  return has("and") && !has("tags") && value["tags"] !== undefined ? { and: value } : value;
}

const isNothing = (value: Json | undefined): boolean =>
  value === undefined || value === null || (isArray(value) && value.length === 0);

/** The reference counts if the field beside it has no value, which the peer's controller would fill in. */
function fitReference(
  given: string,
  name: string,
  { value, at, reading }: { readonly value: JsonObject; readonly at: string; readonly reading: Reading },
): [string, string][] {
  if (value[name] !== undefined && value[name] !== null) return [];
  const found = reading.refer(name, value[given] ?? null);
  if (found === undefined) {
    reading.refuse(at, `refers to another object. Write its value into ${name}`);
    return [];
  }
  return [[reading.names[name] ?? name, found]];
}

/** S3 gives a rule without an id a random one; in Drover's `Bucket` a rule needs an id. */
function withId(fitted: JsonObject, schema: JsonObject, path: string, reading: Reading): JsonObject {
  if (fitted["id"] !== undefined || !listAt(schema, "required").includes("id")) return fitted;
  const [, list = "rule", index = "0"] = /(\w+)\[(\d+)\]$/.exec(path) ?? [];
  const id = `${list}-${Number(index) + 1}`;
  reading.note(path, `has no id, and gets ${id}. If the bucket exists, write the id that S3 gave it`);
  return { id, ...fitted };
}

/** Drover has a day where the API has its midnight. */
function dayOf(value: Json, at: string, reading: Reading): Json {
  const [, day, time] = (isString(value) && /^(\d{4}-\d\d-\d\d)(.*)$/.exec(value)) || [];
  if (day !== undefined && /^(T00:00(:00(\.0+)?)?(Z|\+00:00))?$/.test(time ?? "")) return day;
  reading.refuse(at, "is not midnight UTC, at which S3 acts");
  return value;
}

function matching(given: string, names: readonly string[]): string | undefined {
  const plain = given.replace(/_$/, "").toLowerCase();
  return names.find((name) => [plain, `${plain}s`].includes(name.toLowerCase()));
}

const isTag = (schema: JsonObject): boolean =>
  Object.keys(objectAt(schema, "properties")).sort().join() === "key,value";
const tagsOf = (map: JsonObject): JsonObject[] => Object.entries(map).map(([key, value]) => ({ key, value }));
