import { isApiError } from "@drover/kube";
import { z } from "zod";

const detailsSchema = z.looseObject({ causes: z.array(z.looseObject({ message: z.string() })).min(1) });

/** Values and names in a message are quoted: users choose them. */
const quoted = /"(?:[^"\\]|\\.)*"/g;
/** The API server's words for a field that cannot be changed. */
const unchangeable =
  /\b(is|are) immutable\b|may not be changed|may not change|updates to .* are forbidden|cannot be changed/i;

/**
 * True if the API server refuses a change because of immutable fields alone: then a child with these fields can be created
 * again. Each cause is judged, without the values in it: a refusal for another cause too would also refuse the new child.
 */
export function isImmutable(error: unknown): boolean {
  if (!isApiError(error, "Invalid")) return false;
  const { data } = detailsSchema.safeParse(error.details);
  return data?.causes.every(({ message }) => unchangeable.test(message.replaceAll(quoted, ""))) === true;
}
