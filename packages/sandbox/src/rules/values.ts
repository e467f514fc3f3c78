// The values of CEL for the parts of an object (k8s.io/apiserver/pkg/cel/common, valuesunstructured.go): integers are
// int64, texts with a format are times or bytes, and lists with keys are equal in any order.
import { celEnv, celList, celMap, isCelError, isCelList, isCelMap, parse, plan } from "@bufbuild/cel";
import type { CelInput, CelList, CelMap, CelValue } from "@bufbuild/cel";
import { create } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import {
  field,
  isArray,
  isNumber,
  isObject,
  isString,
  isTrueAt,
  objectAt,
  textAt,
  textsAt,
} from "../json.ts";
import type { Json } from "../json.ts";
import { escapedName } from "./names.ts";

/** The keys of the items of a list; empty for a set. Lists without an entry are compared in their order. */
const keysOf = new WeakMap<object, readonly string[]>();
/** The prefix of fields that rules cannot read. They only count when objects are compared. */
const hidden = "\0";

/** True if rules can read the values of a schema: if they have a type. */
export function isReadable(schema: Json | undefined): boolean {
  const [type, others] = [textAt(schema, "type"), field(schema, "additionalProperties")];
  if (isTrueAt(schema, "x-kubernetes-int-or-string")) return true;
  if (type === "array") return isReadable(field(schema, "items"));
  return type === "object" && isObject(others) ? isReadable(others) : type !== undefined;
}

const text: Json = { type: "string" };
/** The fields of an object: each resource has a type and a name, whether its schema describes them or not. */
const fieldsOf = (schema: Json, isRoot: boolean): Readonly<Record<string, Json>> =>
  isRoot || isTrueAt(schema, "x-kubernetes-embedded-resource")
    ? {
        ...objectAt(schema, "properties"),
        kind: text,
        apiVersion: text,
        metadata: { type: "object", properties: { name: text, generateName: text } },
      }
    : objectAt(schema, "properties");

/** The fields of an object. Reading one that the schema does not have is an error, even in has(). */
class Fields extends Map<string, CelInput> {
  private readonly known: ReadonlySet<string>;
  constructor(entries: readonly (readonly [string, CelInput])[], known: ReadonlySet<string>) {
    super(entries);
    this.known = known;
  }
  override get(name: string): CelInput | undefined {
    if (this.known.has(name) || name.startsWith(hidden)) return super.get(name);
    throw new Error(`undefined field '${name}'`);
  }
}

const standard = celEnv().funcs;
/** Calls a function of the library. */
export const callStandard = (name: string, ...args: CelValue[]) =>
  standard.find(name)?.call(0, undefined, args);
const durationOf = plan(celEnv(), parse("duration(text)"));

const moment = /^(\d{4}-\d\d-\d\d)(?:[Tt](\d\d:\d\d:\d\d)(?:\.(\d{1,9})\d*)?([Zz]|[+-]\d\d:\d\d))?$/;
function timestampOf(text: string): CelInput {
  const [, date, time = "00:00:00", fraction = "", zone = "Z"] = moment.exec(text) ?? [];
  const ms = Date.parse(`${date ?? ""}T${time}${zone.toUpperCase()}`);
  if (Number.isNaN(ms)) throw new Error(`Invalid date-time formatted string ${text}`);
  return create(TimestampSchema, { seconds: BigInt(ms / 1000), nanos: Number(fraction.padEnd(9, "0")) });
}

function textValue(text: string, format: string): CelInput {
  if (format === "byte") return new Uint8Array(Buffer.from(text, "base64"));
  if (format === "date" || format === "date-time") return timestampOf(text);
  if (format !== "duration") return text;
  const duration = durationOf({ text });
  if (isCelError(duration))
    throw new Error(`Invalid duration ${text}: the sandbox reads durations such as 1h30m`);
  return duration;
}

/** The value of data without a schema. */
const plainValue = (value: Json): CelInput => {
  if (isArray(value)) return celList(value.map(plainValue));
  if (!isObject(value)) return value;
  return celMap(new Map(Object.entries(value).map(([key, inner]) => [key, plainValue(inner)])));
};

/** The value of a part of an object. Throws an Error if it does not fit its schema. */
export function valueOf(value: Json, schema: Json | undefined, isRoot = false): CelInput {
  const type = textAt(schema, "type");
  if (isNumber(value)) return type === "number" ? Number(value) : BigInt(value);
  if (isString(value)) return textValue(value, type === "string" ? (textAt(schema, "format") ?? "") : "");
  if (isArray(value)) return listValue(value, schema);
  if (isObject(value)) return mapValue(value, schema ?? null, isRoot);
  if (value === null && !isTrueAt(schema, "nullable"))
    throw new Error("invalid data, got null for schema with nullable=false");
  return value;
}

function listValue(value: readonly Json[], schema: Json | undefined): CelList {
  const list = celList(value.map((item) => valueOf(item, field(schema, "items"))));
  const kind = textAt(schema, "x-kubernetes-list-type");
  const keys = textsAt(schema, "x-kubernetes-list-map-keys").map((key) => escapedName(key) ?? hidden + key);
  if (kind === "set" || kind === "map") keysOf.set(list, keys);
  return list;
}

function mapValue(value: Readonly<Record<string, Json>>, schema: Json, isRoot: boolean): CelMap {
  const others = field(schema, "additionalProperties");
  if (isObject(others))
    return celMap(new Map(Object.entries(value).map(([key, inner]) => [key, valueOf(inner, others)])));
  const fields = new Map(
    Object.entries(fieldsOf(schema, isRoot)).filter(([key, one]) => isReadable(one) && escapedName(key)),
  );
  const entries = Object.entries(value).map(([key, inner]): [string, CelInput] => {
    const [own, name] = [fields.get(key), escapedName(key) ?? key];
    if (own === undefined) return [hidden + key, plainValue(inner)];
    return inner === null ? [hidden + name, null] : [name, valueOf(inner, own)];
  });
  return celMap(new Fields(entries, new Set([...fields.keys()].map((key) => escapedName(key) ?? ""))));
}

const identity = (item: CelValue | undefined, keys: readonly string[]): string => {
  const parts = isCelMap(item) ? keys.map((key) => item.get(key)) : [item];
  return parts.map((part) => `${typeof part} ${typeof part === "object" ? "" : String(part)}`).join("\0");
};

function equalLists(a: CelList, b: CelList): boolean {
  if (a.size !== b.size) return false;
  const keys = keysOf.get(a);
  if (keys === undefined) return [...a].every((item, i) => equalValues(item, b.get(i)));
  const known = new Map([...a].map((item) => [identity(item, keys), item]));
  return [...b].every((item) => {
    const mine = known.get(identity(item, keys));
    return mine !== undefined && equalValues(mine, item);
  });
}

/** A field that rules cannot read makes a difference only if both objects have it, as in the real server. */
function equalMaps(a: CelMap, b: CelMap): boolean {
  const names = new Set(b.keys());
  return (
    a.size === b.size &&
    [...a].every(([key, value]) => {
      const other = names.has(key) ? b.get(key) : undefined;
      if (other === undefined)
        return isString(key) && key.startsWith(hidden) && !names.has(key.slice(hidden.length));
      return equalValues(value, other);
    })
  );
}

/** True if two values are equal. */
export function equalValues(a: CelValue | undefined, b: CelValue | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  if (isCelList(a)) return isCelList(b) && equalLists(a, b);
  if (isCelMap(a)) return isCelMap(b) && equalMaps(a, b);
  return callStandard("_==_", a, b) === true;
}

/** The sum of two lists: the items of the second replace those of the first with the same keys. */
export function addedLists(a: CelList, b: CelList): CelList {
  const keys = keysOf.get(a);
  if (keys === undefined) return celList([...a, ...b]);
  const sum = celList([...new Map([...a, ...b].map((item) => [identity(item, keys), item])).values()]);
  keysOf.set(sum, keys);
  return sum;
}
