import type { z } from "zod";
import type { StructuralSchema } from "./schema.ts";

/** One thing in a schema that a CRD cannot say. */
export interface SchemaProblem {
  /** Such as `spec.lifecycle[].when`; a value of a record is `.*`. */
  readonly path: string;
  /** What it is and what to write instead. */
  readonly problem: string;
}

/** Where in a schema the walk is, and the two ways on from there. */
export interface Place {
  readonly path: string;
  /** Note that what stands here has no structural form. The walk goes on, so that one error names everything. */
  refuse(problem: string): typeof refused;
  /** The structural form of a schema that lies a step below: `.name`, `[]`, `.*`, or "" for what a wrapper holds. */
  below(step: string, schema: z.core.$ZodType): StructuralSchema;
}

/** Stands where a schema was refused. Known by its identity; a schema with a form is never empty. */
export const refused: StructuralSchema = Object.freeze({});

/** The step to a field of an object. */
export const fieldStep = (name: string): string =>
  /^[A-Za-z_][\w-]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
