import { field, isObject, isString, textAt, textsAt, withField } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";

/** What all objects of the API have in common. */
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

/** The object with one metadata field set, or removed when the value is undefined. */
export const withMeta = (object: KubeObject, key: string, value: Json | undefined): KubeObject => ({
  ...object,
  metadata: withField(object.metadata, key, value),
});
/** The object without one of its top-level fields other than the three every object has. */
export function withTop(object: KubeObject, key: string, value: Json | undefined): KubeObject {
  const { apiVersion, kind, metadata } = object;
  return { ...withField(object, key, value), apiVersion, kind, metadata };
}
/** Key in the store: sorts as etcd does, namespace before name. */
export const keyOf = (namespace: string, name: string): string =>
  namespace === "" ? name : `${namespace}/${name}`;
