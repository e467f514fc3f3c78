// The validation of values by structural schemas, with the errors of the API server (kube-openapi,
// pkg/validation/validate). If several schemas are tried, the errors of the one that came furthest are reported.
// Rules (x-kubernetes-validations) are evaluated after that: rules/.
import { invalid, notSupported, required, tooLong, tooMany, typeInvalid } from "../admission/field-errors.ts";
import type { FieldError } from "../admission/field-errors.ts";
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
  sorted,
  textAt,
  textsAt,
} from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import { goNumber } from "../http/go-text.ts";
import { loadedRules } from "../rules/lazy-rules.ts";
import { matches } from "./pattern.ts";
import { isKept, keptField, keptItem } from "./ratcheting.ts";
import type { Before } from "./ratcheting.ts";
import { repeatedItems } from "./schema-fitting.ts";
import { hasFormat, isKnownFormat } from "./string-formats.ts";

/** The result of a check of a value: its errors, and the number of checks that it passed. */
interface Verdict {
  readonly errors: readonly FieldError[];
  readonly passed: number;
}
const fine = (passed: number): Verdict => ({ errors: [], passed });
const wrong = (...errors: readonly FieldError[]): Verdict => ({ errors, passed: 0 });
/** All results as one. An error that two of them have is in it once. */
function together(verdicts: readonly Verdict[], passed = 0): Verdict {
  const errors = new Map(
    verdicts.flatMap((one) => one.errors.map((error) => [`${error.field}: ${error.body}`, error])),
  );
  return {
    errors: [...errors.values()],
    passed: verdicts.reduce((sum, one) => sum + one.passed, passed),
  };
}

/** The path of a field without a leading dot, which the paths of maps in the root have. */
const named = (path: string): string => path.replace(/^\./, "") || "<nil>";

/** The type of a value in JSON Schema, and its type in Go. */
function typeOf(value: Json): readonly [type: string, format: string] {
  if (value === null) return ["null", ""];
  if (isArray(value)) return ["array", ""];
  if (!isNumber(value)) return [typeof value, ""];
  return isInteger(value) ? ["integer", "int64"] : ["number", "float64"];
}
type Numeric = number | bigint;
const number = (schema: Json, key: string): Numeric | undefined => {
  const found = field(schema, key);
  return isNumber(found) ? found : undefined;
};
const typesOf = (schema: Json): readonly string[] => {
  if (field(schema, "x-kubernetes-int-or-string") === true) return ["integer", "string"];
  const type = textAt(schema, "type") ?? "";
  return type === "" ? [] : [type];
};
/** The format, if the server knows it for the type. */
const formatOf = (schema: Json): string => {
  const format = textAt(schema, "format") ?? "";
  const types = typesOf(schema);
  return isKnownFormat(types.length === 1 ? (types[0] ?? "") : "", format) ? format : "";
};

/**
 * The errors of the parts of `value` that differ from `before`; `path` is its path from the root of the object ("" at
 * the root).
 */
export const validated = (
  value: Json,
  schema: Json | undefined,
  path: string,
  before?: Before,
): readonly FieldError[] => verdict(value, schema, path, before).errors;

/** The errors of a value, with paths below `path`. */
export const below = (path: string, errors: readonly FieldError[]): FieldError[] =>
  errors.map((error) => ({
    ...error,
    field: error.field === "<nil>" ? path : `${path}.${error.field}`,
  }));

/** The result without the errors of a value that has not changed. */
function verdict(value: Json, schema: Json | undefined, path: string, before?: Before): Verdict {
  const found = look(value, schema, path, before);
  return found.errors.length > 0 && isKept(value, before) ? { ...found, errors: [] } : found;
}

function look(value: Json, schema: Json | undefined, path: string, before?: Before): Verdict {
  if (!isObject(schema)) return fine(0);
  if (value === null) return together([typeVerdict(value, schema, path), choices(value, schema, path)]);
  const isTyped = typesOf(schema).length > 0 || formatOf(schema) !== "";
  const verdicts = [
    ...(isTyped ? [typeVerdict(value, schema, path)] : []),
    junctors(value, schema, path, before),
    ...(isString(value) ? [text(value, schema, path)] : []),
    ...(isString(value) && formatOf(schema) !== "" ? [formatted(value, schema, path)] : []),
    ...(isNumber(value) ? [quantity(value, schema, path)] : []),
    ...(isArray(value) ? [list(value, schema, path, before)] : []),
    choices(value, schema, path),
    ...(isObject(value) ? [object(value, schema, path, before)] : []),
  ];
  return together(verdicts, verdicts.length + 1);
}

function typeVerdict(value: Json, schema: Json, path: string): Verdict {
  const types = typesOf(schema);
  const format = formatOf(schema);
  const [type, kept] = typeOf(value);
  const fail = (wanted: string, found: string): Verdict =>
    wrong(typeInvalid(named(path), found, `${path} in body must be of type ${wanted}: "${found}"`));
  if (type === "null") {
    const nullable = types.length === 0 || field(schema, "nullable") === true;
    return nullable ? fine(1) : fail(types.join(","), "null");
  }
  const numeric = types.includes("number") || types.includes("integer");
  const fits =
    types.includes(type) ||
    (type === "integer" && types.includes("number")) ||
    (typeof value === "number" && types.includes("integer") && isNearlyWhole(value));
  const isText = isString(value) || isArray(value);
  if (!isText && format !== "" && !fits && kept !== format) return fail(format, kept);
  // A list in the place of a text with a format is accepted, too, but not if the server itself decodes the field.
  const passes =
    isText && !numeric && format !== "" && (isString(value) || field(schema, "x-drover-decoded") !== true);
  return fits || passes ? fine(1) : fail(types.join(","), type);
}

/** True if swag of go-openapi accepts a float as an integer. */
function isNearlyWhole(value: number): boolean {
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER) return false;
  const whole = Math.trunc(value);
  return whole === value || (whole !== 0 && Math.abs(value - whole) / Math.abs(value + whole) < 1e-9);
}

/** The error of the kind of a number, which names no field. */
const unfit = (what: string, path: string): FieldError => invalid("<nil>", undefined, `${what} in ${path}`);

function choices(value: Json, schema: Json, path: string): Verdict {
  const allowed = listAt(schema, "enum");
  const isOne = (one: Json): boolean =>
    one !== null &&
    (equal(one, value) ||
      // Go converts a number to the kind of the number that it is compared with.
      (typeof one === "number" && typeof value === "number" && isInteger(one) && Math.trunc(value) === one));
  return allowed.length === 0 || allowed.some(isOne)
    ? fine(0)
    : wrong(notSupported(named(path), sorted(value), allowed.map(sorted)));
}

function text(value: string, schema: Json, path: string): Verdict {
  const length = Array.from(value).length;
  const [most, least] = [number(schema, "maxLength"), number(schema, "minLength")];
  if (most !== undefined && length > most) return wrong(tooLong(named(path), Number(most)));
  if (least !== undefined && length < least)
    return wrong(invalid(named(path), value, `${path} in body should be at least ${least} chars long`));
  const pattern = textAt(schema, "pattern") ?? "";
  if (pattern !== "" && !matches(pattern, value))
    return wrong(invalid(named(path), value, `${path} in body should match '${pattern}'`));
  return fine(0);
}

function formatted(value: string, schema: Json, path: string): Verdict {
  const format = formatOf(schema);
  if (hasFormat(value, format)) return fine(0);
  return wrong(
    typeInvalid(named(path), value, `${path} in body must be of type ${format}: ${JSON.stringify(value)}`),
  );
}

/** The reason why a number is not of the kind of numbers in the schema. */
function kindFault(value: Numeric, schema: Json): string | undefined {
  const types = typesOf(schema);
  const type = types.length === 1 ? types[0] : undefined;
  const format = formatOf(schema);
  const most = format === "int32" ? 2 ** 31 : 2 ** 63;
  const isOfKind =
    type === "integer"
      ? Number.isInteger(Number(value)) && value >= -most && value < most
      : type !== "number" || format !== "float" || Number.isFinite(Math.fround(Number(value)));
  if (isOfKind) return undefined;
  return `value must be of type ${type ?? ""} ${format === "" ? "(default format)" : `with format ${format}`}`;
}

function isMultiple(value: Numeric, factor: Numeric): boolean {
  if (typeof value === "number" && typeof factor === "number")
    return isNearlyWhole(factor < 1 ? (1 / factor) * value : value / factor);
  const [whole, part] = [value, factor].map((one) =>
    typeof one === "bigint" ? one : BigInt(Math.trunc(one)),
  );
  return part === undefined || part === 0n || (whole ?? 0n) % part === 0n;
}

/** The errors of a number. A limit for an integer loses its fraction. */
function quantity(value: Numeric, schema: Json, path: string): Verdict {
  const errors: FieldError[] = [];
  const own = kindFault(value, schema);
  if (own !== undefined) errors.push(unfit(`Checked ${own}`, path));
  const limit = (key: string, title: string, check: (bound: Numeric) => string | undefined): void => {
    const given = number(schema, key);
    if (given === undefined) return;
    const fault = kindFault(given, schema);
    if (fault !== undefined) errors.push(unfit(`${title} ${fault}`, path));
    const bound =
      fault === undefined && isInteger(value) && typeof given === "number" ? Math.trunc(given) : given;
    if (key === "multipleOf" && bound <= 0) {
      const why = `factor MultipleOf declared for ${path} must be positive: ${goNumber(bound)}`;
      errors.push(invalid(named(path), bound, why));
      return;
    }
    const detail = check(bound);
    if (detail !== undefined) errors.push(invalid(named(path), value, `${path} in body should be ${detail}`));
  };
  limit("multipleOf", "MultipleOf", (factor) =>
    isMultiple(value, factor) ? undefined : `a multiple of ${goNumber(factor)}`,
  );
  const below = field(schema, "exclusiveMaximum") === true;
  limit("maximum", "Maximum boundary", (most) =>
    (below ? value < most : value <= most)
      ? undefined
      : `less than ${below ? "" : "or equal to "}${goNumber(most)}`,
  );
  const above = field(schema, "exclusiveMinimum") === true;
  limit("minimum", "Minimum boundary", (least) =>
    (above ? value > least : value >= least)
      ? undefined
      : `greater than ${above ? "" : "or equal to "}${goNumber(least)}`,
  );
  return { errors, passed: 1 };
}

function list(value: readonly Json[], schema: Json, path: string, before?: Before): Verdict {
  const [most, least] = [number(schema, "maxItems"), number(schema, "minItems")];
  const items = field(schema, "items");
  const few = invalid(named(path), value.length, `${path} in body should have at least ${least ?? 0} items`);
  const inside = value.map((item, i) => verdict(item, items, `${path}[${i}]`, keptItem(before, item)));
  return together(
    [
      ...inside,
      ...(least !== undefined && value.length < least ? [wrong(few)] : []),
      ...(most !== undefined && value.length > most
        ? [wrong(tooMany(named(path), value.length, Number(most)))]
        : []),
    ],
    1,
  );
}

function object(value: Json, schema: Json, path: string, before?: Before): Verdict {
  const entries = Object.entries(objectAt(value));
  const known = objectAt(schema, "properties");
  const others = field(schema, "additionalProperties");
  const [most, least] = [number(schema, "maxProperties"), number(schema, "minProperties")];
  const count = entries.length;
  const few = invalid(named(path), count, `${path} in body should have at least ${least ?? 0} properties`);
  const inside = entries.map(([key, inner]): Verdict => {
    const [isKnown, old] = [Object.hasOwn(known, key), keptField(before, key, path)];
    if (isKnown) return verdict(inner, known[key], path === "" ? key : `${path}.${key}`, old);
    if (others === false)
      return wrong(invalid(named(path), key, `${path}.${key} in body is a forbidden property`));
    return verdict(inner, others, `${path}.${key}`, old);
  });
  const missing = textsAt(schema, "required").filter((key) => field(value, key) === undefined);
  return together([
    ...(least !== undefined && count < least ? [wrong(few)] : []),
    ...(most !== undefined && count > most ? [wrong(tooMany(named(path), count, Number(most)))] : []),
    ...inside,
    ...missing.map((key) => wrong(required(named(`${path}.${key}`)))),
  ]);
}

/** The result with the most passed checks; the first of equal ones. */
const furthest = (verdicts: readonly Verdict[]): Verdict =>
  verdicts.reduce((best, one) => (one.passed > best.passed ? one : best), verdicts[0] ?? fine(0));

/** The result of allOf, anyOf, oneOf and not. Their own errors name no field, as in the real server. */
function junctors(value: Json, schema: Json, path: string, before?: Before): Verdict {
  const quoted = JSON.stringify(path);
  const fail = (detail: string): Verdict => wrong(invalid("<nil>", undefined, `${quoted} must ${detail}`));
  const isFine = ({ errors }: Verdict): boolean => errors.length === 0;
  const tried = (key: string): Verdict[] => listAt(schema, key).map((one) => look(value, one, path, before));
  const found: Verdict[] = [];
  const any = tried("anyOf");
  const first = any.find(isFine);
  if (first) found.push(first);
  else if (any.length > 0) found.push(fail("validate at least one schema (anyOf)"), furthest(any));
  const one = tried("oneOf");
  const matching = one.filter(isFine);
  if (matching[0] && matching.length === 1) found.push(matching[0]);
  else if (matching.length > 1)
    found.push(fail(`validate one and only one schema (oneOf). Found ${matching.length} valid alternatives`));
  else if (one.length > 0)
    found.push(fail("validate one and only one schema (oneOf). Found none valid"), furthest(one));
  const all = tried("allOf");
  found.push(...all);
  if (!all.every(isFine))
    found.push(fail(`validate all the schemas (allOf)${all.some(isFine) ? "" : ". None validated"}`));
  const not = field(schema, "not");
  if (not !== undefined && isFine(look(value, not, path, before)))
    found.push(fail("not validate the schema (not)"));
  return together(found, 1);
}

const unchecked =
  "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";
/** The reasons of errors that keep a server from the evaluation of rules. */
const blocking = ["NotSupported", "Required", "TooLong", "TooMany", "TypeInvalid"].map(
  (one) => `FieldValue${one}`,
);

/** True if a schema has rules (CEL) outside of allOf, anyOf, oneOf and not. */
export function hasRules(schema: Json | undefined): boolean {
  if (!isObject(schema)) return false;
  const inside = [field(schema, "items"), field(schema, "additionalProperties")];
  return (
    listAt(schema, "x-kubernetes-validations").length > 0 ||
    [...inside, ...Object.values(objectAt(schema, "properties"))].some(hasRules)
  );
}

/** The errors of an object against the rules of its schema, or the error that its other errors prevent them. */
export function ruleErrors(
  value: Json,
  schema: JsonObject,
  old: Json | undefined,
  errors: readonly FieldError[],
  warn: (text: string) => void,
): FieldError[] {
  if (!hasRules(schema)) return [];
  if (errors.some(({ reason }) => blocking.includes(reason))) return [invalid("<nil>", null, unchecked)];
  const found = loadedRules().evaluated(value, schema, old);
  found.warnings.forEach(warn);
  return found.errors;
}

/** The errors of an object that is to be created, or to replace `old`. */
export function objectErrors(value: Json, schema: Json, old: Json | undefined): FieldError[] {
  const before = old === undefined ? undefined : { value: old, schema };
  const wasRepeated = old !== undefined && repeatedItems(old, schema, "").length > 0;
  return [...validated(value, schema, "", before), ...(wasRepeated ? [] : repeatedItems(value, schema, ""))];
}

/** The same for a write of its status. */
export function statusErrors(value: Json, schema: Json, old: Json): FieldError[] {
  const [status, own] = [field(value, "status"), field(schema, "properties", "status")];
  const was = field(old, "status");
  const before = was === undefined || own === undefined ? undefined : { value: was, schema: own };
  const errors = status === undefined ? [] : below("status", validated(status, own, "", before));
  return [...errors, ...(repeatedItems(old, schema, "").length > 0 ? [] : repeatedItems(value, schema, ""))];
}
