// What metadata has for fields, in every object and in those that stand in others.
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
  or,
  string,
  strings,
  time,
} from "../schema/schema-words.ts";

const owner = fields({
  ...each("apiVersion kind name uid", or(string, "")),
  ...each("controller blockOwnerDeletion", boolean),
});
/** Of every object's metadata. */
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

/** Metadata fields that mean nothing when they are empty: Go's `omitempty`. */
const isEmpty = (value: Json): boolean =>
  value === null ||
  value === "" ||
  (isArray(value) && value.length === 0) ||
  (isObject(value) && Object.keys(value).length === 0);

export const filledFields = (metadata: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(metadata).filter(([, value]) => !isEmpty(value)));

/** What is metadata of what stands there; other fields are told. */
export function metadataIn(given: Json, path: string, unknown: string[]): JsonObject | undefined {
  const known = defaulted(
    withoutEmpty(pruned(given, metadataSchema, path, unknown), metadataSchema),
    metadataSchema,
  );
  return isObject(known) ? known : undefined;
}
