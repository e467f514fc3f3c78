import type { z } from "zod";
import { structuralSchema } from "./from-zod.ts";
import type { SchemaProblem } from "./place.ts";

/** The structural form of a schema at `spec`, and the problems found in it. */
export function structuralForm(schema: z.core.$ZodType) {
  const problems: SchemaProblem[] = [];
  return { form: structuralSchema(schema, "spec", problems), problems };
}
