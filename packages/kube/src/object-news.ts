import type { ObjectKey } from "@drover/controller";
import { z } from "zod";

/** What became of one object, as text. `copy` is the object (`copyOf`); left out, it is gone. */
export function newsText({
  copy,
  ...rest
}: {
  readonly kind: string;
  readonly key: ObjectKey;
  /** Of what is gone it may be the last one that was heard of. */
  readonly resourceVersion: string;
  readonly copy?: string;
}): string {
  const text = JSON.stringify(rest);
  return copy === undefined ? text : `${text.slice(0, -1)},"object":${copy}}`;
}

/** It as it is read again. */
export const newsSchema = z.object({
  kind: z.string(),
  key: z.string(),
  resourceVersion: z.string(),
  object: z.unknown().optional(),
});
export type ObjectNews = z.output<typeof newsSchema>;
