import type { z } from "zod";
import { jsonSchemaOf } from "./checks.ts";
import type { Place } from "./place.ts";
import { omitUndefined } from "./omit-undefined.ts";
import type { Json, StructuralSchema } from "./schema.ts";

/**
 * A string. zod gives every format except `uri` a pattern, and only the pattern is kept: with a format, the API server
 * accepts a list in place of a string, and its `duration` is Go's.
 */
export function stringForm(schema: z.core.$ZodType): StructuralSchema {
  const { minLength, maxLength, pattern, format, allOf = [] } = jsonSchemaOf(schema);
  const more = [
    ...allOf.flatMap((all) => (all.pattern === undefined ? [] : [{ pattern: all.pattern }])),
    ...(format === "uri" ? [{ format }] : []),
  ];
  return {
    type: "string",
    ...omitUndefined({ minLength, maxLength, pattern, allOf: more.length > 0 ? more : undefined }),
  };
}

/** An enum or a literal: the values that zod accepts, and their common type. */
export function valuesForm(values: readonly unknown[], place: Place): StructuralSchema {
  const scalars = values.filter(isScalar);
  if (scalars.length < values.length) {
    return place.refuse(
      "only strings, numbers and booleans can be listed; for a missing value use .optional() or .nullable()",
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

/**
 * The same form that also accepts null. If an `enum` is next to `nullable`, the API server compares null with it and
 * refuses null, even if the enum contains it. Below a logical keyword it does not check null.
 */
export function nullable({ enum: listed, ...form }: StructuralSchema): StructuralSchema {
  return {
    ...form,
    ...(listed !== undefined && { allOf: [...(form.allOf ?? []), { enum: listed }] }),
    nullable: true,
  };
}

const isScalar = (value: unknown): value is string | number | boolean =>
  typeof value === "string" || typeof value === "boolean" || Number.isFinite(value);
