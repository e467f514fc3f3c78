import type { z } from "zod";
import type { StructuralSchema } from "./schema.ts";

/** A part of a schema that a CRD cannot express. */
export interface SchemaProblem {
  /** Such as `spec.lifecycle[].when`; a value of a record is `.*`. */
  readonly path: string;
  /** The problem, and what to write instead. */
  readonly problem: string;
}

/** The current position of the walk through a schema. */
export interface Place {
  readonly path: string;
  /** Records that the schema here has no structural form. The walk continues, so that one error lists all problems. */
  refuse(problem: string): typeof refused;
  /** The structural form of a schema one step below: `.name`, `[]`, `.*`, or "" for the content of a wrapper. */
  below(step: string, schema: z.core.$ZodType): StructuralSchema;
}

/** Placeholder for a refused schema. Compared by identity; a schema with a form is never empty. */
export const refused: StructuralSchema = Object.freeze({});

/** The step to a field of an object. */
export const fieldStep = (name: string): string =>
  /^[A-Za-z_][\w-]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
