// The errors for which a definition with rules is refused (apiextensions-apiserver, pkg/apis/apiextensions/validation):
// rules that cannot be read, and rules that would never be evaluated.
import { invalid, when } from "../admission/field-errors.ts";
import type { FieldError } from "../admission/field-errors.ts";
import { field, isObject, objectAt, textAt } from "../json.ts";
import type { Json } from "../json.ts";
import { rulesOf } from "./compile.ts";
import type { Program, Rule } from "./compile.ts";
import { isReadable } from "./values.ts";

/** A rule as the server prints it: with the names of Go. */
const shown = ({ json }: Rule): Json => ({ Rule: textAt(json, "rule") ?? "" });
const usesOld = (program: Program | Error): boolean => !(program instanceof Error) && program.usesOld;

/**
 * The errors of the rules of a schema. `atomic` is the path of a list around it whose items have no identity, so that
 * they have no previous value.
 */
export function compileErrors(schema: Json, path: string, atomic?: string): FieldError[] {
  if (!isObject(schema)) return [];
  const [items, others] = [field(schema, "items"), field(schema, "additionalProperties")];
  const list = field(schema, "x-kubernetes-list-type") === "map" ? atomic : (atomic ?? path);
  const own = isReadable(schema) ? rulesOf(schema) : [];
  return [
    ...own.flatMap((rule, i) => errorsOf(rule, `${path}.x-kubernetes-validations[${i}]`, atomic)),
    ...compileErrors(items ?? null, `${path}.items`, list),
    ...compileErrors(others ?? null, `${path}.additionalProperties`, atomic),
    ...Object.entries(objectAt(schema, "properties")).flatMap(([key, one]) =>
      compileErrors(one, `${path}.properties[${key}]`, atomic),
    ),
  ];
}

function errorsOf(rule: Rule, path: string, atomic: string | undefined): FieldError[] {
  const { json, program, message } = rule;
  const problem = (one: Program | Error | undefined, key: string, why: string): FieldError[] =>
    one instanceof Error ? [invalid(`${path}.${key}`, shown(rule), `${why}: ${one.message}`)] : [];
  const optional = field(json, "optionalOldSelf");
  const where = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${atomic ?? ""}`;
  return [
    ...problem(program, "rule", "compilation failed"),
    ...problem(message, "messageExpression", "messageExpression compilation failed"),
    ...when(
      atomic !== undefined && usesOld(program),
      invalid(`${path}.rule`, textAt(json, "rule") ?? "", where),
    ),
    ...when(
      optional !== undefined && !usesOld(program),
      invalid(`${path}.optionalOldSelf`, optional, "may not be set if oldSelf is not used in rule"),
    ),
  ];
}
