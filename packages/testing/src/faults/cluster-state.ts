import { writeJson } from "@drover/json";
import { interferenceAnnotation } from "./interference.ts";
import type { FoundObject, ClusterSnapshot } from "./cluster-snapshot.ts";

/** The deterministic part of a cluster's state at one moment: the values of its objects, by their stable names. */
export type ClusterState = ReadonlyMap<string, readonly ObjectValues[]>;
/** Values by path, such as `spec.replicas`. */
export type ObjectValues = ReadonlyMap<string, string>;

/** An object, as calls name it. */
export interface NamedObject {
  /** `configmaps`, `deployments.apps` */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

/** Returns a name that is the same in every run: objects with generated names share one. */
export type StableNameOf = (object: NamedObject) => string;

/** Takes the place of a generated name. */
export const anyName = "*";

/** Names of which only the certain ones are the same in every run. */
export function stableNamesBy(isCertain: (object: NamedObject) => boolean): StableNameOf {
  return (object) => {
    const { resource, namespace, name } = object;
    return `${resource} ${[namespace, isCertain(object) ? name : anyName].filter((part) => part !== "").join("/")}`;
  };
}

export const namedObject = ({ resource, object: { metadata } }: FoundObject): NamedObject => ({
  resource,
  namespace: metadata.namespace ?? "",
  name: metadata.name,
});

/** Fields that the server sets, or that depend on time. */
const ignoredMetadata = new Set([
  "uid",
  "resourceVersion",
  "creationTimestamp",
  "generation",
  "managedFields",
  "selfLink",
]);

export function clusterStateOf(
  { objects, outside }: ClusterSnapshot,
  stableNameOf: StableNameOf,
): ClusterState {
  const roles = new Map(
    objects.map((found) => [found.object.metadata.uid, stableNameOf(namedObject(found))]),
  );
  const state = new Map<string, ObjectValues[]>();
  for (const found of objects) {
    const role = stableNameOf(namedObject(found));
    state.set(role, [...(state.get(role) ?? []), valuesOf(found, roles)]);
  }
  if (outside !== undefined) state.set("outside", [flattened(outside)]);
  return state;
}

/** Times are not compared: they depend on backoff, or on another clock than the test's. */
const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** @param roles the objects' stable names, by uid; a reference by uid is compared by that name. */
export function valuesOf(found: FoundObject, roles: ReadonlyMap<string, string>): ObjectValues {
  const { metadata, ...object } = found.object;
  const kept = Object.fromEntries(Object.entries(metadata).filter(([field]) => !ignoredMetadata.has(field)));
  const going = metadata.deletionTimestamp !== undefined && { deletionTimestamp: "set" };
  const name = roles.get(metadata.uid) ?? "";
  const generation = String(metadata.generation);
  const comparable = ([path, value]: readonly [string, string]): readonly [string, string] => {
    if (path.endsWith("observedGeneration")) return [path, value === generation ? "current" : "behind"];
    if (isTime.test(value)) return [path, "a time"];
    return [path, roles.get(value) ?? value];
  };
  const values = [...flattened({ ...object, metadata: { ...kept, name, ...going } })];
  return new Map(
    values.filter(([path]) => path !== `metadata.annotations.${interferenceAnnotation}`).map(comparable),
  );
}

/** The paths at which two objects differ. */
export const differingPaths = (a: ObjectValues, b: ObjectValues): readonly string[] =>
  [...new Set([...a.keys(), ...b.keys()])].filter((path) => a.get(path) !== b.get(path));

function flattened(value: unknown, path = ""): ObjectValues {
  if (typeof value !== "object" || value === null || Object.keys(value).length === 0) {
    return new Map([[path, typeof value === "string" ? value : writeJson(value)]]);
  }
  const below = (key: string): string => {
    if (Array.isArray(value)) return `${path}[${key}]`;
    return path === "" ? key : `${path}.${key}`;
  };
  return new Map(Object.entries(value).flatMap(([key, part]) => [...flattened(part, below(key))]));
}
