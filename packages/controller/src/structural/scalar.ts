import type { z } from "zod";
import { jsonSchemaOf } from "./checks.ts";
import type { Place } from "./place.ts";
import { present } from "./present.ts";
import type { Json, StructuralSchema } from "./schema.ts";

/**
 * Text. zod gives every format but `uri` a pattern, and the pattern is all that is carried: beside a format the API
 * server forgets that a list is no string, and `duration` is Go's there.
 */
export function stringForm(schema: z.core.$ZodType): StructuralSchema {
  const { minLength, maxLength, pattern, format, allOf = [] } = jsonSchemaOf(schema);
  const more = [
    ...allOf.flatMap((all) => (all.pattern === undefined ? [] : [{ pattern: all.pattern }])),
    ...(format === "uri" ? [{ format }] : []),
  ];
  return {
    type: "string",
    ...present({ minLength, maxLength, pattern, allOf: more.length > 0 ? more : undefined }),
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

/**
 * The same, and null too. The API server compares null with an `enum` beside `nullable` and refuses it, even where the
 * enum names null; below a logical keyword it asks null nothing.
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
