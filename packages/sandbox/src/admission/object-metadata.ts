// The fields of metadata.
import { isArray, isObject } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import { defaulted, pruned, withoutEmpty } from "../schema/schema-fitting.ts";
import {
  anyObject,
  boolean,
  each,
  fields,
  integer,
  listOf,
  mapOf,
  withDefault,
  string,
  strings,
  time,
} from "../schema/schema-builders.ts";

const owner = fields({
  ...each("apiVersion kind name uid", withDefault(string, "")),
  ...each("controller blockOwnerDeletion", boolean),
});
/** The schema of the metadata of every object. */
export const metadataSchema = fields({
  ...strings("name generateName namespace selfLink uid resourceVersion"),
  ...each("creationTimestamp deletionTimestamp", time),
  ...each("generation deletionGracePeriodSeconds", integer),
  ...each("labels annotations", mapOf(string)),
  finalizers: listOf(string),
  ownerReferences: listOf(owner),
  managedFields: listOf(
    fields({
      ...strings("manager operation apiVersion fieldsType subresource"),
      time,
      fieldsV1: anyObject,
    }),
  ),
});

/** True if a metadata field is empty: Go leaves such fields out (`omitempty`). */
const isEmpty = (value: Json): boolean =>
  value === null ||
  value === "" ||
  (isArray(value) && value.length === 0) ||
  (isObject(value) && Object.keys(value).length === 0);

export const filledFields = (metadata: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(metadata).filter(([, value]) => !isEmpty(value)));

/**
 * The known fields of metadata. Adds the paths of other fields to `unknown`; undefined if the value is not an object.
 */
export function metadataIn(given: Json, path: string, unknown: string[]): JsonObject | undefined {
  const known = defaulted(
    withoutEmpty(pruned(given, metadataSchema, path, unknown), metadataSchema),
    metadataSchema,
  );
  return isObject(known) ? known : undefined;
}
