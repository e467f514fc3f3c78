import type { z } from "zod";
import { jsonSchemaOf } from "./checks.ts";
import { type Place, refused } from "./place.ts";
import type { Json, StructuralSchema } from "./schema.ts";

/** Formats that mean the same to zod and to the API server. (Its `duration` is Go's, zod's is ISO 8601.) */
const sharedFormats = new Set(["date", "date-time", "ipv4", "ipv6", "uri", "uuid"]);

const int32 = { least: -(2 ** 31), most: 2 ** 31 - 1 };

export function stringForm(schema: z.core.$ZodType): StructuralSchema {
  const { minLength, maxLength, pattern, format, allOf } = jsonSchemaOf(schema);
  return {
    type: "string",
    ...(format !== undefined && sharedFormats.has(format) && { format }),
    ...(minLength !== undefined && { minLength }),
    ...(maxLength !== undefined && { maxLength }),
    ...(pattern !== undefined && { pattern }),
    ...(allOf !== undefined && {
      allOf: allOf.flatMap((all) => (all.pattern ? [{ pattern: all.pattern }] : [])),
    }),
  };
}

export function numberForm(schema: z.core.$ZodType): StructuralSchema {
  const { type, minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, allOf } =
    jsonSchemaOf(schema);
  const whole = type === "integer";
  const outer = whole ? Number.MAX_SAFE_INTEGER : Number.MAX_VALUE;
  const step = (exclusive: unknown): number => (whole && exclusive === true ? 1 : 0);
  const least = minimum === undefined ? undefined : minimum + step(exclusiveMinimum);
  const most = maximum === undefined ? undefined : maximum - step(exclusiveMaximum);
  const fits = (least ?? -Infinity) >= int32.least && (most ?? Infinity) <= int32.most;
  return {
    type: whole ? "integer" : "number",
    ...(whole && { format: fits ? "int32" : "int64" }),
    // zod gives every number the bounds of a double, and every integer those of a safe one: they say nothing.
    ...(least !== undefined && least > -outer && { minimum: least }),
    ...(most !== undefined && most < outer && { maximum: most }),
    ...(!whole && exclusiveMinimum === true && { exclusiveMinimum }),
    ...(!whole && exclusiveMaximum === true && { exclusiveMaximum }),
    ...(multipleOf !== undefined && { multipleOf }),
    ...(allOf !== undefined && {
      allOf: allOf.flatMap((all) => (all.multipleOf ? [{ multipleOf: all.multipleOf }] : [])),
    }),
  };
}

/** An enum or a literal: the values that zod takes, of one type that the values have. */
export function valuesForm(values: readonly unknown[], place: Place): StructuralSchema {
  const scalars = values.filter(isScalar);
  if (scalars.length < values.length) {
    return place.refuse(
      "only strings, numbers and booleans can be listed; for nothing use .optional() or .nullable()",
    );
  }
  const every = (test: (value: Json) => boolean): boolean => scalars.every(test);
  const isText = (value: Json): boolean => typeof value === "string";
  if (scalars.length === 0) return place.refuse("no value satisfies an empty enum; name one");
  if (every(isText)) return { type: "string", enum: scalars };
  if (every(Number.isInteger)) return { type: "integer", enum: scalars };
  if (every((value) => typeof value === "number")) return { type: "number", enum: scalars };
  if (every((value) => typeof value === "boolean")) return { type: "boolean", enum: scalars };
  return every((value) => isText(value) || Number.isInteger(value))
    ? { "x-kubernetes-int-or-string": true, enum: scalars }
    : place.refuse("values of several types have no structural form; use strings");
}

/** The same, and null too. An enum must name null, or the API server refuses it. */
export function nullable(form: StructuralSchema): StructuralSchema {
  if (form === refused) return refused;
  const withNull = <V extends { readonly enum?: readonly Json[] }>(node: V): V =>
    node.enum === undefined || node.enum.includes(null) ? node : { ...node, enum: [...node.enum, null] };
  return {
    ...withNull(form),
    ...(form.anyOf !== undefined && { anyOf: form.anyOf.map(withNull) }),
    nullable: true,
  };
}

const isScalar = (value: unknown): value is string | number | boolean =>
  typeof value === "string" || typeof value === "boolean" || Number.isFinite(value);
