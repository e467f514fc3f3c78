import { z } from "zod";
import { isApiError } from "./errors.ts";

/** A field that an apply would have set, and that another manager has set to another value. */
export interface FieldConflict {
  /** The other manager, such as `kubectl-edit`. */
  readonly manager: string;
  /** The path of the field: `.spec.replicas`. */
  readonly field: string;
}

const causesSchema = z.looseObject({
  causes: z.array(
    z.looseObject({
      reason: z.string().nullish(),
      message: z.string().nullish(),
      field: z.string().nullish(),
    }),
  ),
});

/** `conflict with "kubectl" with subresource "status" using apps/v1 at <time>`; the name is quoted as in Go. */
const conflictMessage = /^conflict with ("(?:[^"\\]|\\.)*")/;

/**
 * The fields for which the API server has refused an apply, sorted: the server's order is random. Empty for other errors,
 * also for a Conflict of versions.
 *
 * @see https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts
 */
export function fieldConflicts(error: unknown): readonly FieldConflict[] {
  if (!isApiError(error, "Conflict")) return [];
  const { data } = causesSchema.safeParse(error.details);
  return (data?.causes ?? [])
    .filter(({ reason }) => reason === "FieldManagerConflict")
    .map(({ message, field }) => ({ manager: managerIn(message ?? ""), field: field ?? "" }))
    .sort((a, b) => compareText(a.field, b.field) || compareText(a.manager, b.manager));
}

function managerIn(message: string): string {
  const quoted = conflictMessage.exec(message)?.[1] ?? '""';
  try {
    return z.string().parse(JSON.parse(quoted));
  } catch {
    return quoted; // Go escapes some characters in ways that JSON lacks.
  }
}

const compareText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
