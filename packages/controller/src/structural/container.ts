import { z } from "zod";
import { jsonSchemaOf } from "./checks.ts";
import { fieldStep, type Place, refused } from "./place.ts";
import { omitUndefined } from "./omit-undefined.ts";
import type { StructuralSchema } from "./schema.ts";

export function objectForm({ shape, catchall }: z.core.$ZodObjectDef, place: Place): StructuralSchema {
  if (Object.getOwnPropertySymbols(shape).length > 0) {
    place.refuse("a symbol cannot name a field; use a string");
  }
  const rest = catchall?._zod.def.type;
  // Unknown fields of a plain or strict object never arrive: the API server prunes them, or refuses them.
  const open = rest === "unknown" || rest === "any";
  if (rest !== undefined && rest !== "never" && !open) {
    place.refuse(
      "an object cannot have both named fields and a catchall; put the rest into a field with z.record()",
    );
  }
  const fields = Object.entries(shape).map(([name, field]): Field => ({
    name,
    form: place.below(fieldStep(name), field),
    optional: field._zod.optin !== undefined,
  }));
  return { ...objectOf(fields), ...(open && { "x-kubernetes-preserve-unknown-fields": true }) };
}

/** A field of an object. */
export interface Field {
  readonly name: string;
  readonly form: StructuralSchema;
  readonly optional: boolean;
}

/** The form of an object with these fields. */
export function objectOf(fields: readonly Field[]): StructuralSchema {
  const required = fields.filter(({ optional }) => !optional).map(({ name }) => name);
  return {
    type: "object",
    ...(fields.length > 0 && {
      properties: Object.fromEntries(fields.map(({ name, form }) => [name, form])),
    }),
    ...(required.length > 0 && { required }),
  };
}

export function recordForm(def: z.core.$ZodRecordDef, place: Place): StructuralSchema {
  const { keyType, valueType } = def;
  if (def.mode === "loose") return place.refuse("a loose record has no structural form; use z.record()");
  const names = keyType._zod.values;
  if (names !== undefined) return objectOf([...names].map((name) => keyField(String(name), def, place)));
  if (keyType._zod.def.type !== "string")
    return place.refuse("keys are strings; use z.record(z.string(), ...)");
  const key = place.below(".<key>", keyType);
  if (key !== refused && Object.keys(key).some((keyword) => keyword !== "type")) {
    return place.refuse(
      'a CRD cannot restrict keys; use z.string() and a cel rule such as self.all(key, key.matches("^[a-z]+$"))',
    );
  }
  return { type: "object", additionalProperties: place.below(".*", valueType) };
}

/** A field of a record with known keys, which is an object. A partial record sets no defaults, so it has none. */
function keyField(name: string, { valueType, partial = false }: z.core.$ZodRecordDef, place: Place): Field {
  const form = place.below(fieldStep(name), valueType);
  const optional = partial || valueType._zod.optin !== undefined;
  return { name, form: partial ? omitUndefined({ ...form, default: undefined }) : form, optional };
}

export function arrayForm(schema: z.core.$ZodType, def: z.core.$ZodArrayDef, place: Place): StructuralSchema {
  // The items are walked separately; here only the checks of the list itself are needed.
  const ofAnything: z.core.$ZodArrayDef = { ...def, element: z.unknown() };
  const { minItems, maxItems } = jsonSchemaOf(z.clone(schema, ofAnything));
  return {
    type: "array",
    items: place.below("[]", def.element),
    ...omitUndefined({ minItems, maxItems }),
  };
}
