import { parseJson, writeJson } from "@drover/json";
import { z } from "zod";
import { jsonSchemaOf, refuseChecks } from "./checks.ts";
import { arrayForm, objectForm, recordForm } from "./container.ts";
import { type KubernetesMeta, kubernetesMetaOf, metaProblem } from "./kubernetes-meta.ts";
import { bigintForm, numberForm, wholeForm } from "./number.ts";
import { type Place, refused, type SchemaProblem } from "./place.ts";
import { omitUndefined } from "./omit-undefined.ts";
import { nullable, stringForm, valuesForm } from "./scalar.ts";
import type { Json, StructuralSchema } from "./schema.ts";
import { unionForm } from "./union.ts";

/** Maximum depth. Only a schema that creates itself again on each access is deeper, not a handwritten one. */
const maxDepth = 64;

/**
 * The structural schema of a zod schema's input: the values that users write and the API server keeps.
 *
 * Guarantees: every rule of the zod schema is in the result, or is marked as {@link checkedAtRun}, or is in `problems`
 * with its path; nothing is left out silently. The API server may be less strict in details of formats (a url, unusual
 * blanks), never in types, fields, bounds or values.
 */
export function structuralSchema(
  schema: z.core.$ZodType,
  path: string,
  problems: SchemaProblem[],
): StructuralSchema {
  return walk(schema, path, [], problems);
}

function walk(
  schema: z.core.$ZodType,
  path: string,
  inside: readonly z.core.$ZodType[],
  problems: SchemaProblem[],
): StructuralSchema {
  const place: Place = {
    path,
    refuse: (problem) => {
      problems.push({ path, problem });
      return refused;
    },
    below: (step, next) => walk(next, path + step, [...inside, schema], problems),
  };
  if (inside.includes(schema) || inside.length > maxDepth) {
    return place.refuse(
      "the schema contains itself; write as many levels as are needed, or a list of named parts",
    );
  }
  const meta = kubernetesMetaOf(schema, place);
  refuseChecks(schema, place);
  const form = formOf(knownType(schema), meta, place);
  return form === refused ? refused : annotated(form, schema, meta, place);
}

function formOf(schema: z.core.$ZodTypes, meta: KubernetesMeta, place: Place): StructuralSchema {
  const { def } = schema._zod;
  if ("coerce" in def && def.coerce) return place.refuse(coerced);
  switch (def.type) {
    case "object":
      return objectForm(def, place);
    case "record":
      return recordForm(def, place);
    case "array":
      return arrayForm(schema, def, place);
    case "boolean":
      return { type: "boolean" };
    case "string":
    case "template_literal":
      return stringForm(schema);
    case "number":
      return jsonSchemaOf(schema).type === "integer" ? wholeForm(schema, place) : numberForm(schema, place);
    case "bigint":
      return bigintForm(schema, place);
    case "enum":
    case "literal":
      return valuesForm(valuesOf(schema), place);
    case "nullable":
      return orNull(place.below("", def.innerType));
    case "optional":
    case "nonoptional":
    case "readonly":
      return place.below("", def.innerType);
    case "default":
    case "prefault":
      return withDefault(def, place);
    case "union":
      return meta.preserveUnknownFields === true ? anything : unionForm(def, place);
    case "any":
    case "unknown":
    case "lazy":
    case "tuple":
    case "intersection":
      return meta.preserveUnknownFields === true ? anything : place.refuse(instead[def.type]);
    case "null":
    case "undefined":
    case "void":
    case "never":
    case "date":
    case "nan":
    case "symbol":
    case "map":
    case "set":
    case "file":
    case "function":
    case "promise":
    case "custom":
    case "transform":
    case "pipe":
    case "success":
    case "catch":
      return place.refuse(instead[def.type]);
  }
}

const orNull = (form: StructuralSchema): StructuralSchema => (form === refused ? refused : nullable(form));

const anything: StructuralSchema = { "x-kubernetes-preserve-unknown-fields": true };
const coerced = "the API server converts nothing; use the type that people write, without coerce";
const untyped =
  "a value of any type needs .meta({ kubernetes: { preserveUnknownFields: true } }), or else the API server prunes what it holds";
const code =
  "the API server does not run code that converts a value; keep what people write, and convert it in reconcile";

/** For each type that a CRD cannot express: the problem, and what to write instead. */
const instead = {
  any: untyped,
  unknown: untyped,
  lazy: "a recursive schema has no structural form; write the levels out, or mark it with .meta({ kubernetes: { preserveUnknownFields: true } })",
  tuple: "a tuple has no structural form; use an object or a list",
  intersection: "an intersection has no structural form; use one object, made with .extend()",
  null: "null alone has no structural form; use .nullable() on the type that it stands in for",
  undefined: "undefined is not JSON; use .optional()",
  void: "undefined is not JSON; use .optional()",
  never: "no value is ever allowed here; leave the field out",
  date: "a date is not JSON; use z.iso.datetime()",
  nan: "NaN is not JSON; use z.number()",
  symbol: "a symbol is not JSON; use z.string()",
  map: "a map is not JSON; use z.record(z.string(), ...)",
  set: 'a set is not JSON; use z.array() with .meta({ kubernetes: { listType: "set" } })',
  file: "a file is not JSON; name a ConfigMap or a Secret that holds it",
  function: "a function is not JSON; leave it out",
  promise: "a promise is not JSON; use the type that it resolves to",
  custom:
    "a custom type is code, which the API server does not run; use z.object(), z.string() or another type of JSON",
  transform: code,
  pipe: code,
  success: code,
  catch: "a bad value is refused by the API server, not replaced; use .default() for one that is left out",
};

function withDefault(def: z.core.$ZodDefaultDef | z.core.$ZodPrefaultDef, place: Place): StructuralSchema {
  const form = place.below("", def.innerType);
  if (form === refused) return refused;
  // zod's default is a getter, which calls the default function if there is one: two reads may differ.
  const value: unknown = def.defaultValue;
  if (writeJson(value) !== writeJson(def.defaultValue)) {
    return place.refuse(
      "the default differs each time, but a CRD has one for all objects; set it in reconcile",
    );
  }
  const parsed = z.safeParse(def.innerType, value);
  // The API server ignores a default of null; zod sets it when the object is parsed.
  if (parsed.success) return parsed.data === null ? form : { ...form, default: json(parsed.data) };
  const [issue] = parsed.error.issues;
  return place.refuse(`the default ${writeJson(value)} does not satisfy the schema: ${issue?.message ?? ""}`);
}

function annotated(
  form: StructuralSchema,
  schema: z.core.$ZodType,
  meta: KubernetesMeta,
  place: Place,
): StructuralSchema {
  const problem = metaProblem(form, meta);
  if (problem !== undefined) return place.refuse(`${problem}; correct .meta({ kubernetes })`);
  if (meta.default !== undefined && !z.safeParse(schema, meta.default).success)
    return place.refuse("the default in .meta({ kubernetes }) does not satisfy its schema");
  const { title, description } = z.globalRegistry.get(schema) ?? {};
  const rules = [...(form["x-kubernetes-validations"] ?? []), ...(meta.cel ?? [])];
  return {
    ...form,
    ...omitUndefined({
      title,
      description,
      default: meta.default,
      maxProperties: meta.maxProperties,
      "x-kubernetes-preserve-unknown-fields": meta.preserveUnknownFields,
      "x-kubernetes-list-type": meta.listType,
      "x-kubernetes-list-map-keys": meta.listMapKeys,
      "x-kubernetes-map-type": meta.mapType,
      "x-kubernetes-validations": rules.length > 0 ? rules : undefined,
    }),
  };
}

// As zod advises for code that reads schemas: every schema is one of these types, which `def.type` discriminates.
const knownType = (schema: z.core.$ZodType): z.core.$ZodTypes => schema as z.core.$ZodTypes;

const valuesOf = (schema: z.core.$ZodType): readonly unknown[] => [...(schema._zod.values ?? [])];

const jsonSchema: z.ZodType<Json> = z.lazy(() =>
  z.union([z.json(), z.bigint(), z.array(jsonSchema), z.record(z.string(), jsonSchema)]),
);

const json = (value: unknown): Json => jsonSchema.parse(parseJson(writeJson(value)));
