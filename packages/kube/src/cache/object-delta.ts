import type { ObjectKey } from "@drover/controller";
import { z } from "zod";

interface ChangedVersion {
  readonly kind: string;
  readonly key: ObjectKey;
  /** For a deletion, this may be the last version that was observed. */
  readonly resourceVersion: string;
}

/** The beginning of the text of every change of an object to this version, up to the object. */
export const deltaBeginning = ({ kind, key, resourceVersion }: ChangedVersion): string =>
  `${JSON.stringify({ kind, key, resourceVersion }).slice(0, -1)},"object":`;

/** The change of one object, as text. `copy` is the new object as text (`cachedObjectText`). Left out: the object was deleted. */
export const deltaText = ({ copy, ...version }: ChangedVersion & { readonly copy?: string }): string =>
  copy === undefined ? JSON.stringify(version) : `${deltaBeginning(version)}${copy}}`;

/** Parses the text of `deltaText`. */
export const deltaSchema = z.object({
  kind: z.string(),
  key: z.string(),
  resourceVersion: z.string(),
  object: z.unknown().optional(),
});
export type ObjectDelta = z.output<typeof deltaSchema>;
