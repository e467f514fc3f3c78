import type { z } from "zod";
import { type Place, refused } from "./place.ts";
import { omitUndefined } from "./omit-undefined.ts";
import { nullable } from "./scalar.ts";
import type { NestedValidation, StructuralSchema } from "./schema.ts";
import { variantsForm } from "./variants.ts";

/**
 * A union that can have one type outside of it: alternatives of one scalar type, integers or strings, and objects with
 * a discriminator field. Other unions are refused.
 */
export function unionForm(def: UnionDef, place: Place): StructuralSchema {
  const options = def.options.filter((option) => option._zod.def.type !== "null");
  const form = alternatives(def, options, place);
  return options.length < def.options.length && form !== refused ? nullable(form) : form;
}

type UnionDef = z.core.$ZodUnionDef | z.core.$ZodDiscriminatedUnionDef;

const reasons = {
  exclusive: "exactly one of several has no structural form; use z.union()",
  objects:
    "a union of objects or lists has no structural form; use z.discriminatedUnion() on a field with literals, or one object with optional fields and a cel rule",
  behaviour: "an alternative cannot have a default or rules of its own; put them on the union",
  types: "a union of several types has no structural form; only z.int() and z.string() go together",
};

function alternatives(def: UnionDef, options: readonly z.core.$ZodType[], place: Place): StructuralSchema {
  if ("discriminator" in def) return variantsForm(options, def.discriminator, place);
  if (def.inclusive === false) return place.refuse(reasons.exclusive);
  const forms = options.map((option) => place.below("", option));
  const [only, ...more] = forms;
  if (only === undefined || forms.includes(refused)) return refused;
  if (more.length === 0) return only;
  if (forms.some(({ type }) => type === "object" || type === "array")) return place.refuse(reasons.objects);
  if (forms.some(hasBehaviour)) return place.refuse(reasons.behaviour);
  const form = forms.every(({ type }) => type === only.type) ? oneType(forms, only) : intOrString(forms);
  if (form === undefined) return place.refuse(reasons.types);
  return forms.some((each) => each.nullable) ? nullable(form) : form;
}

/** Alternatives of the same scalar type: lists of values are merged, anything else goes into `anyOf`. */
function oneType(forms: readonly StructuralSchema[], { type }: StructuralSchema): StructuralSchema {
  const base: StructuralSchema = omitUndefined({
    type,
    format: type === "integer" ? widest(forms) : undefined,
    "x-kubernetes-int-or-string": type === undefined ? true : undefined,
  });
  const branches = forms.map(validations);
  if (branches.some(isEmpty)) return base;
  const onlyLists = branches.every((branch) => Object.keys(branch).join() === "enum");
  return onlyLists
    ? { ...base, enum: [...new Set(branches.flatMap((branch) => branch.enum ?? []))] }
    : { ...base, anyOf: branches };
}

const widest = (forms: readonly StructuralSchema[]): string | undefined =>
  forms.find(({ format }) => format !== "int32")?.format ?? forms[0]?.format;

/** Integers or strings. Keywords for numbers do not apply to strings, and the other way round. */
function intOrString(forms: readonly StructuralSchema[]): StructuralSchema | undefined {
  if (!forms.every(({ type }) => type === "string" || type === "integer" || type === undefined))
    return undefined;
  const base: StructuralSchema = { "x-kubernetes-int-or-string": true };
  const branches = forms.map(validations);
  if (branches.every(isEmpty)) return base;
  const [first, second, ...more] = branches;
  if (more.length === 0 && !branches.some(hasLogic)) return { ...base, ...first, ...second };
  return {
    ...base,
    anyOf: branches.map((branch, at) => ({ ...branch, ...excludeOtherType(forms[at], branch) })),
  };
}

// A branch must not contain a type, so it contains a condition that a value of the other type never satisfies.
function excludeOtherType(form: StructuralSchema | undefined, branch: NestedValidation): NestedValidation {
  if (form?.type === undefined || branch.enum !== undefined) return {};
  return form.type === "string" ? { minimum: 1, maximum: 0 } : { minLength: 1, maxLength: 0 };
}

const hasLogic = ({ enum: values, allOf, anyOf }: NestedValidation): boolean =>
  values !== undefined || allOf !== undefined || anyOf !== undefined;

const hasBehaviour = (form: StructuralSchema): boolean =>
  form.default !== undefined ||
  form["x-kubernetes-validations"] !== undefined ||
  form["x-kubernetes-preserve-unknown-fields"] === true;

const isEmpty = (branch: NestedValidation): boolean => Object.keys(branch).length === 0;

/** The validations of a scalar's form, without its type and its descriptions. */
const validations = (form: StructuralSchema): NestedValidation =>
  omitUndefined({
    enum: form.enum,
    minimum: form.minimum,
    maximum: form.maximum,
    exclusiveMinimum: form.exclusiveMinimum,
    exclusiveMaximum: form.exclusiveMaximum,
    multipleOf: form.multipleOf,
    minLength: form.minLength,
    maxLength: form.maxLength,
    pattern: form.pattern,
    allOf: form.allOf,
    anyOf: form.anyOf,
  });
