import { field, isObject, isString, textAt, textsAt, withField } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";

/** The fields that all objects of the API have. */
export interface KubeObject extends JsonObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: JsonObject;
}

export const isKubeObject = (value: Json | undefined): value is KubeObject =>
  isString(field(value, "apiVersion")) &&
  isString(field(value, "kind")) &&
  isObject(field(value, "metadata"));

export const nameOf = (object: JsonObject): string => textAt(object, "metadata", "name") ?? "";
/** The namespace, or "" of a cluster-scoped object. */
export const namespaceOf = (object: JsonObject): string => textAt(object, "metadata", "namespace") ?? "";
export const uidOf = (object: JsonObject): string => textAt(object, "metadata", "uid") ?? "";
export const versionOf = (object: JsonObject): string => textAt(object, "metadata", "resourceVersion") ?? "";
export const generationOf = (object: JsonObject): number => {
  const generation = field(object, "metadata", "generation");
  return typeof generation === "number" ? generation : 0;
};
export const finalizersOf = (object: JsonObject): readonly string[] =>
  textsAt(object, "metadata", "finalizers");
export const beingDeleted = (object: JsonObject): boolean =>
  textAt(object, "metadata", "deletionTimestamp") !== undefined;

/** The object with one metadata field set, or without it if the value is undefined. */
export const withMeta = (object: KubeObject, key: string, value: Json | undefined): KubeObject => ({
  ...object,
  metadata: withField(object.metadata, key, value),
});
/**
 * The object with one top-level field set, or without it if the value is undefined; not for the three fields of all
 * objects.
 */
export function withTop(object: KubeObject, key: string, value: Json | undefined): KubeObject {
  const { apiVersion, kind, metadata } = object;
  return { ...withField(object, key, value), apiVersion, kind, metadata };
}
/** The key in the store. Keys sort as in etcd, namespace before name. */
export const keyOf = (namespace: string, name: string): string =>
  namespace === "" ? name : `${namespace}/${name}`;
