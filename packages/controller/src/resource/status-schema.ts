import type { z } from "zod";
import { conditionLimits } from "./condition.ts";
import { structuralSchema } from "../structural/from-zod.ts";
import type { SchemaProblem } from "../structural/place.ts";
import { omitUndefined } from "../structural/omit-undefined.ts";
import type { StructuralSchema } from "../structural/schema.ts";

/**
 * The schema of a status: the author's fields, and those that the runtime writes into every status. None is required,
 * because a status is written step by step.
 */
export function structuralStatusSchema(
  status: z.core.$ZodType,
  path: string,
  problems: SchemaProblem[],
): StructuralSchema {
  const own = structuralSchema(status, path, problems);
  for (const name of Object.keys(runtimeFieldSchemas)) {
    if (own.properties !== undefined && Object.hasOwn(own.properties, name)) {
      problems.push({ path: `${path}.${name}`, problem: "the runtime writes this field; use another name" });
    }
  }
  return omitUndefined({
    ...own,
    required: undefined,
    // Before its first run an object has no conditions, and kstatus would report it as Current.
    default: { observedGeneration: -1 },
    properties: { ...own.properties, ...runtimeFieldSchemas },
  });
}

/** `meta/v1` Condition. */
const conditionSchema: StructuralSchema = {
  type: "object",
  properties: {
    type: { type: "string", ...conditionLimits.type },
    status: { type: "string", enum: ["True", "False", "Unknown"] },
    reason: { type: "string", ...conditionLimits.reason },
    message: { type: "string", ...conditionLimits.message },
    observedGeneration: { type: "integer", format: "int64", minimum: 0 },
    lastTransitionTime: { type: "string", format: "date-time" },
  },
  required: ["lastTransitionTime", "message", "reason", "status", "type"],
};

const runtimeFieldSchemas: Readonly<Record<string, StructuralSchema>> = {
  observedGeneration: {
    type: "integer",
    format: "int64",
    description: "The generation of the spec that this status was written for.",
  },
  conditions: {
    type: "array",
    description: "The conditions, by type. Ready is True if the spec is reconciled.",
    items: conditionSchema,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["type"],
  },
};
