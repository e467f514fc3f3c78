// Values against structural schemas, with the errors of the API server (kube-openapi's validation).
// x-kubernetes-validations (CEL) is not evaluated: what only a rule forbids is accepted.
import { isIP } from "node:net";
import { duplicate, invalid, notSupported, required, tooLong, tooMany, typeInvalid } from "./field-errors.ts";
import type { FieldError } from "./field-errors.ts";
import {
  equal,
  field,
  isArray,
  isInteger,
  isNumber,
  isObject,
  isString,
  listAt,
  objectAt,
  textAt,
  textsAt,
} from "./json.ts";
import type { Json } from "./json.ts";
import { matches } from "./pattern.ts";
import { repeatedItems } from "./schema-fitting.ts";

const typeOf = (value: Json): string => {
  if (value === null) return "null";
  if (isArray(value)) return "array";
  if (isNumber(value)) return isInteger(value) ? "integer" : "number";
  return typeof value;
};
const number = (schema: Json, key: string): number | undefined => {
  const found = field(schema, key);
  return typeof found === "number" ? found : undefined;
};

const date = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;
const fitsMask = (cidr: string): boolean => {
  const [address = "", bits] = cidr.split("/");
  return Number(bits) <= (isIP(address) === 4 ? 32 : 128);
};
const octet = "(25[0-5]|2[0-4]\\d|1?\\d?\\d)";
const formats: ReadonlyMap<string, (text: string) => boolean> = new Map([
  [
    "date-time",
    (s) =>
      /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/.test(s) && date.test(s.slice(0, 10)),
  ],
  ["date", (s) => date.test(s) && new Date(s).toISOString().startsWith(s)],
  ["cidr", (s) => /^[0-9a-f:.]+\/\d+$/i.test(s) && isIP(s.split("/")[0] ?? "") > 0 && fitsMask(s)],
  ["mac", (s) => /^[0-9a-f]{2}([:-][0-9a-f]{2}){5}([:-][0-9a-f]{2}){0,14}$/i.test(s)],
  ["byte", (s) => s.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(s)],
  ["uuid", (s) => /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i.test(s)],
  ["ipv4", (s) => new RegExp(`^${octet}(\\.${octet}){3}$`).test(s)],
  ["ipv6", (s) => s.includes(":") && /^[0-9a-f:.]+$/i.test(s)],
  [
    "hostname",
    (s) =>
      s.length <= 255 && /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/i.test(s),
  ],
  ["email", (s) => /^[^@\s]+@[^@\s]+$/.test(s)],
  ["uri", (s) => /^([a-z][a-z0-9+.-]*:|\/)\S*$/i.test(s)],
  ["duration", (s) => /^[+-]?(0|((\d+\.?\d*|\.\d+)\s*(ns|us|µs|ms|s|m|h|d|w)\w*\s*)+)$/.test(s)],
]);

/** Everything that is wrong with `value`, whose path from the root of the object is `path` ("" at the root). */
export function validated(value: Json, schema: Json | undefined, path: string): FieldError[] {
  if (!isObject(schema) || (value === null && field(schema, "nullable") === true)) return [];
  const type = typeOf(value);
  const wanted = textAt(schema, "type");
  const intOrString = field(schema, "x-kubernetes-int-or-string") === true && wanted === undefined;
  const fits = intOrString
    ? type === "integer" || type === "string"
    : wanted === undefined || wanted === type || (wanted === "number" && type === "integer");
  const expected = intOrString ? "integer,string" : (wanted ?? "");
  if (!fits)
    return [
      typeInvalid(path, type, `${path} in body must be of type ${expected}: "${type}"`),
      ...(wanted === "integer" && type === "number" ? [unchecked("integer (default format)", path)] : []),
      ...junctors(value, schema, path),
      ...choices(value, schema, path),
    ];
  return [
    ...junctors(value, schema, path),
    ...(isString(value) ? text(value, schema, path) : []),
    ...(isNumber(value) ? quantity(value, schema, path) : []),
    ...(isArray(value) ? list(value, schema, path) : []),
    ...choices(value, schema, path),
    ...(isObject(value) ? object(value, schema, path) : []),
  ];
}

const unchecked = (what: string, path: string): FieldError =>
  invalid("<nil>", undefined, `Checked value must be of type ${what} in ${path}`);

function choices(value: Json, schema: Json, path: string): FieldError[] {
  const allowed = field(schema, "enum");
  if (!isArray(allowed) || allowed.length === 0 || allowed.some((one) => equal(one, value))) return [];
  return [notSupported(path, value, allowed)];
}

function text(value: string, schema: Json, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const length = Array.from(value).length;
  const [most, least] = [number(schema, "maxLength"), number(schema, "minLength")];
  if (most !== undefined && length > most) errors.push(tooLong(path, most));
  if (least !== undefined && length < least)
    errors.push(invalid(path, value, `${path} in body should be at least ${least} chars long`));
  const pattern = textAt(schema, "pattern");
  if (pattern !== undefined && !matches(pattern, value))
    errors.push(invalid(path, value, `${path} in body should match '${pattern}'`));
  const format = textAt(schema, "format") ?? "";
  if (formats.get(format)?.(value) === false)
    errors.push(
      typeInvalid(path, value, `${path} in body must be of type ${format}: ${JSON.stringify(value)}`),
    );
  return errors;
}

function isMultiple(value: number | bigint, factor: number): boolean {
  if (typeof value === "bigint") return value % BigInt(Math.trunc(factor) || 1) === 0n;
  return Math.abs(value / factor - Math.round(value / factor)) <= 1e-9;
}

function quantity(value: number | bigint, schema: Json, path: string): FieldError[] {
  const fail = (detail: string): FieldError => invalid(path, value, `${path} in body should be ${detail}`);
  const errors: FieldError[] = [];
  if (textAt(schema, "format") === "int32" && value !== (Number(value) | 0))
    errors.push(unchecked("integer with format int32", path));
  const [most, least, factor] = [
    number(schema, "maximum"),
    number(schema, "minimum"),
    number(schema, "multipleOf"),
  ];
  if (factor !== undefined && !isMultiple(value, factor)) errors.push(fail(`a multiple of ${factor}`));
  const below = field(schema, "exclusiveMaximum") === true;
  if (most !== undefined && (below ? value >= most : value > most))
    errors.push(fail(`less than ${below ? "" : "or equal to "}${most}`));
  const above = field(schema, "exclusiveMinimum") === true;
  if (least !== undefined && (above ? value <= least : value < least))
    errors.push(fail(`greater than ${above ? "" : "or equal to "}${least}`));
  return errors;
}

function list(value: readonly Json[], schema: Json, path: string): FieldError[] {
  const [most, least] = [number(schema, "maxItems"), number(schema, "minItems")];
  const errors = value.flatMap((item, i) => validated(item, field(schema, "items"), `${path}[${i}]`));
  if (least !== undefined && value.length < least)
    errors.push(invalid(path, value.length, `${path} in body should have at least ${least} items`));
  if (most !== undefined && value.length > most) errors.push(tooMany(path, value.length, most));
  return errors;
}

function object(value: Json, schema: Json, path: string): FieldError[] {
  const entries = Object.entries(objectAt(value));
  const child = (key: string): string => (path === "" ? key : `${path}.${key}`);
  const [most, least] = [number(schema, "maxProperties"), number(schema, "minProperties")];
  const errors: FieldError[] = [];
  if (least !== undefined && entries.length < least)
    errors.push(invalid(path, entries.length, `${path} in body should have at least ${least} properties`));
  if (most !== undefined && entries.length > most) errors.push(tooMany(path, entries.length, most));
  for (const key of textsAt(schema, "required"))
    if (field(value, key) === undefined) errors.push(required(child(key)));
  for (const [key, inner] of entries)
    errors.push(
      ...validated(
        inner,
        field(schema, "properties", key) ?? field(schema, "additionalProperties"),
        child(key),
      ),
    );
  return errors;
}

/** allOf, anyOf, oneOf, not. Their own errors name no field, as in the real server. */
function junctors(value: Json, schema: Json, path: string): FieldError[] {
  const told = JSON.stringify(path);
  const fail = (detail: string): FieldError => invalid("<nil>", undefined, `${told} must ${detail}`);
  const failing = (key: string): FieldError[][] =>
    listAt(schema, key)
      .map((one) => validated(value, one, path))
      .filter((errors) => errors.length > 0);
  const count = (key: string): number => listAt(schema, key).length;
  const errors: FieldError[] = [];
  const any = failing("anyOf");
  if (count("anyOf") > 0 && any.length === count("anyOf"))
    errors.push(fail("validate at least one schema (anyOf)"), ...(any[0] ?? []));
  const one = failing("oneOf");
  const matching = count("oneOf") - one.length;
  if (count("oneOf") > 0 && matching === 0)
    errors.push(fail("validate one and only one schema (oneOf). Found none valid"), ...(one[0] ?? []));
  if (matching > 1)
    errors.push(fail(`validate one and only one schema (oneOf). Found ${matching} valid alternatives`));
  const all = failing("allOf");
  if (all.length > 0) {
    const none = all.length === count("allOf") ? ". None validated" : "";
    errors.push(...all.flat(), fail(`validate all the schemas (allOf)${none}`));
  }
  const not = field(schema, "not");
  if (not !== undefined && validated(value, not, path).length === 0)
    errors.push(fail("not validate the schema (not)"));
  return errors;
}

/** Validation of a whole object, including the uniqueness that list types ask for. */
export const objectErrors = (value: Json, schema: Json): FieldError[] => [
  ...validated(value, schema, ""),
  ...repeatedItems(value, schema, "").map(([path, item]) => duplicate(path, item)),
];
