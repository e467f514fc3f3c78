import type { z } from "zod";
import { carriedChecks, jsonSchemaOf } from "./checks.ts";
import type { Place } from "./place.ts";
import { omitUndefined } from "./omit-undefined.ts";
import type { NestedValidation, StructuralSchema } from "./schema.ts";

const int64 = { least: -(2n ** 63n), most: 2n ** 63n - 1n };
const boundsSay = "the API server compares whole numbers with bounds of at most 2^53;";
const int32 = { least: -(2 ** 31), most: 2 ** 31 - 1 };

/**
 * An integer. Its format states how many bits it needs. `z.int()` has the bounds ±(2^53 - 1), which are left out,
 * because every int64 may be stored; a range that lies beyond them cannot be expressed, and is refused.
 */
export function wholeForm(schema: z.core.$ZodType, place: Place): StructuralSchema {
  const { minimum, maximum, isAbove, isBelow, multipleOf, allOf } = boundsOf(schema);
  const first = firstWhole(minimum ?? -Infinity, isAbove);
  const last = -firstWhole(-(maximum ?? Infinity), isBelow);
  if (first >= Number.MAX_SAFE_INTEGER || last <= -Number.MAX_SAFE_INTEGER)
    return place.refuse(`${boundsSay} use smaller bounds`);
  const [least, most] = [isExactBound(first) ? first : undefined, isExactBound(last) ? last : undefined];
  const small = least !== undefined && most !== undefined && least >= int32.least && most <= int32.most;
  return {
    type: "integer",
    format: small ? "int32" : "int64",
    ...omitUndefined({ minimum: least, maximum: most, multipleOf, allOf: factors(allOf) }),
  };
}

/** An integer of 64 bits. Its bounds are doubles in a CRD. */
export function bigintForm(schema: z.core.$ZodType, place: Place): StructuralSchema {
  const checks = carriedChecks(schema);
  const values = (name: string, step: bigint): readonly bigint[] =>
    checks.flatMap(({ check, value, inclusive }) =>
      check === name && typeof value === "bigint" ? [inclusive === false ? value + step : value] : [],
    );
  const unsigned = checks.some(({ format }) => format === "uint64") ? [0n] : [];
  const least = [...values("greater_than", 1n), ...unsigned].filter((bound) => bound > int64.least);
  const most = values("less_than", -1n).filter((bound) => bound < int64.most);
  const factors = values("multiple_of", 0n);
  if ([...least, ...most, ...factors].some((bound) => !isExactBound(Number(bound)))) {
    return place.refuse(`${boundsSay} leave it to the runtime with .refine(..., checkedAtRun)`);
  }
  const [multipleOf, ...more] = factors.map(Number);
  return {
    type: "integer",
    format: "int64",
    ...omitUndefined({
      minimum: least.length > 0 ? Math.max(...least.map(Number)) : undefined,
      maximum: most.length > 0 ? Math.min(...most.map(Number)) : undefined,
      multipleOf,
      allOf: more.length > 0 ? more.map((factor) => ({ multipleOf: factor })) : undefined,
    }),
  };
}

/** The bounds and factors of a number. `isAbove` and `isBelow`: the minimum and the maximum themselves are excluded. */
function boundsOf(schema: z.core.$ZodType) {
  const json = jsonSchemaOf(schema);
  return {
    minimum: json.minimum,
    maximum: json.maximum,
    isAbove: json.exclusiveMinimum === true,
    isBelow: json.exclusiveMaximum === true,
    multipleOf: json.multipleOf,
    allOf: json.allOf ?? [],
  };
}

/** The first whole number that a lower bound permits. For an upper bound, negate it and the result. */
const firstWhole = (bound: number, exclusive: boolean): number =>
  exclusive && Number.isInteger(bound) ? bound + 1 : Math.ceil(bound);

const isExactBound = (bound: number | undefined): bound is number =>
  bound !== undefined && Math.abs(bound) < Number.MAX_SAFE_INTEGER;

export function numberForm(schema: z.core.$ZodType, place: Place): StructuralSchema {
  const { minimum, maximum, isAbove, isBelow, multipleOf, allOf } = boundsOf(schema);
  const bounds = [minimum, maximum].filter(
    (bound) => bound !== undefined && Math.abs(bound) < Number.MAX_VALUE,
  );
  if (bounds.some((bound) => !isExactBound(bound))) {
    return place.refuse(`${boundsSay} use z.number() without bounds`);
  }
  const least = isExactBound(minimum) ? bound("minimum", minimum, isAbove) : {};
  const most = isExactBound(maximum) ? bound("maximum", maximum, isBelow) : {};
  const more = [...(factors(allOf) ?? []), ...(least.allOf ?? []), ...(most.allOf ?? [])];
  return {
    type: "number",
    ...least,
    ...most,
    ...omitUndefined({ multipleOf, allOf: more.length > 0 ? more : undefined }),
  };
}

/**
 * A bound of a number that may be a fraction. The API server truncates a bound before it compares an integer with it,
 * so that 0 passes a minimum of 0.5, and -1 does not pass an exclusive minimum of -1.5. To make up for that, a minimum
 * that truncation lowers (0.5 to 0) is exclusive, and one that it raises (-1.5 to -1) is inclusive; a maximum the other
 * way round. If that differs from what the author asked for, an `enum` excludes or includes the bound itself.
 */
function bound(side: "minimum" | "maximum", value: number, exclusive: boolean): NestedValidation {
  const wanted = Number.isInteger(value) ? exclusive : side === "minimum" ? value > 0 : value < 0;
  const plain =
    side === "minimum"
      ? { minimum: value, ...(wanted && { exclusiveMinimum: true }) }
      : { maximum: value, ...(wanted && { exclusiveMaximum: true }) };
  if (wanted === exclusive) return plain;
  const itself = { enum: [value] };
  return exclusive ? { ...plain, allOf: [{ not: itself }] } : { allOf: [{ anyOf: [plain, itself] }] };
}

function factors(
  allOf: readonly { readonly multipleOf?: number | undefined }[],
): NestedValidation[] | undefined {
  const found = allOf.flatMap(({ multipleOf }) => (multipleOf === undefined ? [] : [{ multipleOf }]));
  return found.length > 0 ? found : undefined;
}
