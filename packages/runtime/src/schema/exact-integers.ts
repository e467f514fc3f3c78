import type { z } from "zod";
import { visitSchemaParts, type SchemaPart } from "./schema-parts.ts";

/**
 * Makes a schema accept integers as `parseJson` returns them, and never a different integer than was written.
 * `z.bigint()` accepts small integers too, and returns BigInts. `z.number()` refuses an integer that it cannot
 * represent exactly, with a message.
 *
 * The schema is changed in place, once, as by `withLinearPatterns`.
 */
export function withExactIntegers<Schema extends z.core.$ZodType>(schema: Schema): Schema {
  visitSchemaParts(schema, visited, acceptIntegers);
  return schema;
}

const visited = new WeakSet<object>();

function acceptIntegers(part: SchemaPart): void {
  const { run, def } = part._zod;
  if (run === undefined || !("type" in def)) return;
  if (def.type === "bigint") {
    part._zod.run = (payload, context) => {
      if (isSafeInteger(payload.value)) payload.value = BigInt(payload.value);
      return run(payload, context);
    };
  } else if (def.type === "number") {
    const isWhole = "format" in def && def.format === "safeint";
    part._zod.run = (payload, context) => {
      const value: unknown = payload.value;
      if (typeof value !== "bigint") return run(payload, context);
      const number = Number(value);
      if (isWhole ? Number.isSafeInteger(number) : String(number) === String(value)) {
        payload.value = number;
        return run(payload, context);
      }
      payload.issues.push({ code: "custom", input: value, path: [], message: tooLargeMessage });
      return payload;
    };
  }
}

const isSafeInteger = (value: unknown): value is number => Number.isSafeInteger(value);

const tooLargeMessage =
  "a JavaScript number cannot hold an integer of this size. Declare the field as z.bigint(), or write a smaller integer";

/**
 * The issues, where the issue of a union is replaced by that of an integer that is too large, if its options have one.
 * The issue of a union itself reports only that no option matches.
 */
export const expandUnionIssues = (issues: readonly z.core.$ZodIssue[]): readonly z.core.$ZodIssue[] =>
  issues.flatMap((issue) => {
    if (issue.code !== "invalid_union") return [issue];
    const large = issue.errors
      .flatMap(expandUnionIssues)
      .filter(({ message }) => message === tooLargeMessage)
      .slice(0, 1);
    return large.length === 0
      ? [issue]
      : large.map((one) => ({ ...one, path: [...issue.path, ...one.path] }));
  });
