import type { ObjectKey } from "@drover/controller";
import { z } from "zod";

/** The change of one object, as text. `copy` is the new object as text (`cachedObjectText`). Left out: the object was deleted. */
export function deltaText({
  copy,
  ...rest
}: {
  readonly kind: string;
  readonly key: ObjectKey;
  /** For a deletion, this may be the last version that was observed. */
  readonly resourceVersion: string;
  readonly copy?: string;
}): string {
  const text = JSON.stringify(rest);
  return copy === undefined ? text : `${text.slice(0, -1)},"object":${copy}}`;
}

/** Parses the text of `deltaText`. */
export const deltaSchema = z.object({
  kind: z.string(),
  key: z.string(),
  resourceVersion: z.string(),
  object: z.unknown().optional(),
});
export type ObjectDelta = z.output<typeof deltaSchema>;
