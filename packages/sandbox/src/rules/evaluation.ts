// The rules of a definition (x-kubernetes-validations), evaluated for an object that is to be written
// (apiextensions-apiserver, pkg/apiserver/schema/cel/validation.go). The cost of rules is not counted:
// conformance/not-checked.ts.
import { duplicate, forbidden, invalid, required } from "../admission/field-errors.ts";
import type { FieldError } from "../admission/field-errors.ts";
import { notImplemented } from "../http/status.ts";
import { field, isArray, isObject, isString, objectAt, textAt } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import { isKept, keptField, keptItem } from "../schema/ratcheting.ts";
import type { Before } from "../schema/ratcheting.ts";
import { rulesOf } from "./compile.ts";
import type { Program, Rule } from "./compile.ts";
import { fieldPathIn } from "./field-path.ts";
import { optionalOf } from "./functions.ts";
import { isReadable, valueOf } from "./values.ts";

export { compileErrors } from "./compile-errors.ts";

/** A part of an object, with its place and its previous value. */
interface Part {
  readonly value: Json;
  readonly schema: JsonObject;
  /** "" for the object. */
  readonly path: string;
  readonly old: Json | undefined;
  readonly before: Before | undefined;
  /** True if the errors of the part are those of a part that the write does not change. */
  readonly isKept: () => boolean;
}

/** The errors of an object, and the warnings for errors that were there before in parts that have not changed. */
export interface RuleErrors {
  readonly errors: FieldError[];
  readonly warnings: string[];
}

/** Evaluates all rules of a schema. Throws 501 for a rule with a function that the sandbox lacks. */
export function evaluated(value: Json, schema: JsonObject, old: Json | undefined): RuleErrors {
  const found: RuleErrors = { errors: [], warnings: [] };
  const before = old === undefined ? undefined : { value: old, schema };
  evaluate({ value, schema, path: "", old, before, isKept: () => false }, found);
  return found;
}

function evaluate(part: Part, found: RuleErrors): void {
  const { value, schema, path } = part;
  if (value === null) return;
  for (const rule of rulesOf(schema)) evaluateRule(rule, part, found);
  const keyed = field(schema, "x-kubernetes-list-type") === "map";
  if (isArray(value))
    value.forEach((item, i) => {
      const before = keptItem(part.before, item);
      const old = keyed
        ? keptItem(part.old === undefined ? undefined : { value: part.old, schema }, item)
        : undefined;
      inside(part, item, field(schema, "items"), `${path}[${i}]`, old?.value, before, found);
    });
  if (!isObject(value)) return;
  const properties = objectAt(schema, "properties");
  for (const [key, inner] of Object.entries(value)) {
    const [before, old] = [keptField(part.before, key, path), field(part.old, key)];
    const at = path === "" ? key : `${path}.${key}`;
    inside(part, inner, field(schema, "additionalProperties"), `${path}[${key}]`, old, before, found);
    inside(part, inner, field(properties, key), at, old, before, found);
  }
}

function inside(
  parent: Part,
  value: Json,
  schema: Json | undefined,
  path: string,
  old: Json | undefined,
  before: Before | undefined,
  found: RuleErrors,
): void {
  if (!isObject(schema) || !isReadable(schema)) return;
  const unchanged = before ? () => isKept(value, before) : parent.isKept;
  evaluate({ value, schema, path, old: old ?? undefined, before, isKept: unchanged }, found);
}

/** The messages of cel-go for errors of the library. */
const messages: readonly (readonly [RegExp, string])[] = [
  [/^field not found: /, "no such key: "],
  [/^index (-?\d+) out of bounds \[0, -1\)/, "index out of bounds: $1"],
  [/^index (-?\d+) out of bounds.*/, "index out of range: $1"],
  [/^u?int divide by zero/, "division by zero"],
  [/^u?int modulus by zero/, "modulus by zero"],
  [/^(u?)int overflow during.*/, "$1integer overflow"],
  [/^Unable to convert string .* to bool/, "type conversion error from 'string' to 'bool'"],
  [/^Failed to parse duration.*/, "type conversion error from 'string' to 'google.protobuf.Duration'"],
  [/^Failed to parse timestamp.*/, "type conversion error from 'string' to 'google.protobuf.Timestamp'"],
  [/^found no matching overload.*/, "no such overload"],
];
function failure(error: Error, text: string): string {
  const why = messages.reduce((message, [from, to]) => message.replace(from, to), error.message);
  const about = "call arguments did not match a supported operator, function or macro signature for rule";
  return why.startsWith("no such overload")
    ? `'${why}': ${about}: ${text}`
    : `${why} evaluating rule: ${text}`;
}

function variablesOf(isOptional: boolean, { value, schema, path, old }: Part) {
  const isRoot = path === "";
  const self = valueOf(value, schema, isRoot);
  const oldSelf = old === undefined ? undefined : valueOf(old, schema, isRoot);
  if (isOptional) return { self, oldSelf: optionalOf(oldSelf) };
  return oldSelf === undefined ? { self } : { self, oldSelf };
}

function evaluateRule(rule: Rule, part: Part, found: RuleErrors): void {
  const { program, json } = rule;
  const text = (textAt(json, "rule") ?? "").trim();
  const named = (textAt(json, "message") ?? "").trim() || text;
  const path = part.path === "" ? "<nil>" : part.path;
  const fail = (detail: string): void =>
    void found.errors.push(invalid(path, textAt(part.schema, "type") ?? "", detail));
  if (program instanceof Error) {
    fail(`rule compile error: ${program.message}`);
    return;
  }
  const { usesOld } = program;
  if (usesOld && part.old === undefined && !rule.isOptional) return;
  refuseMissing(program, text);
  let result: unknown;
  try {
    result = program.run(variablesOf(rule.isOptional, part));
  } catch (error) {
    result = error;
  }
  if (result === true) return;
  if (result !== false) {
    fail(failure(result instanceof Error ? result : new Error("must evaluate to a bool:"), named));
    return;
  }
  const error = errorOf(
    rule,
    part,
    messageOf(rule, part) ?? (textAt(json, "message") ? named : `failed rule: ${text}`),
  );
  if (usesOld || !part.isKept()) found.errors.push(error);
  else found.warnings.push(`${error.field}: ${error.body}`);
}

function refuseMissing({ missing }: Program, text: string): void {
  const where = `the rule ${JSON.stringify(text)} needs: test it against a real API server (tools/real-cluster, npm run test:real)`;
  if (missing !== undefined) throw notImplemented(`the CEL function ${missing}`, where);
}

const longest = 5 * 1024;
/** The result of the messageExpression; undefined if it is no message. */
function messageOf(rule: Rule, part: Part): string | undefined {
  if (rule.message === undefined || rule.message instanceof Error) return undefined;
  refuseMissing(rule.message, textAt(rule.json, "messageExpression") ?? "");
  // The real server, too, gives a message the old value itself, even to a rule that has it as an optional.
  const result = rule.message.run(variablesOf(false, part));
  const message = isString(result) ? result.trim() : "";
  return message === "" || message.includes("\n") || Buffer.byteLength(message) > longest
    ? undefined
    : message;
}

function errorOf({ json }: Rule, { value, schema, path }: Part, detail: string): FieldError {
  const inner = fieldPathIn(textAt(json, "fieldPath") ?? "", schema) ?? "";
  const at = [path, inner].filter(Boolean).join(".") || "<nil>";
  const reason = textAt(json, "reason") ?? "FieldValueInvalid";
  const isWhole = ["object", "array"].includes(textAt(schema, "type") ?? "");
  if (reason === "FieldValueForbidden") return forbidden(at, detail);
  if (reason === "FieldValueRequired") return required(at, detail);
  if (reason === "FieldValueDuplicate")
    return isWhole ? { reason, field: at, body: "Duplicate value" } : duplicate(at, value);
  return isWhole ? { reason, field: at, body: `Invalid value: ${detail}` } : invalid(at, value, detail);
}
