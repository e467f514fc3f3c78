import { writeJson } from "@drover/json";
import { markOfSomebody } from "./interference.ts";
import type { Found, Snapshot } from "./snapshot.ts";

/** What there is at one moment, as far as it is the same whenever the same has happened: by object, its values. */
export type State = ReadonlyMap<string, readonly Values[]>;
/** By their paths, such as `spec.replicas`. */
export type Values = ReadonlyMap<string, string>;

/** An object by its name, as calls have it. */
export interface Named {
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

/** What an object is called in every run: those that have their names by chance share one. */
export type RoleOf = (object: Named) => string;

/** Instead of a name that is another one every time. */
export const anyName = "*";

/** Roles where only these names are sure to come again. */
export function rolesBy(isCertain: (object: Named) => boolean): RoleOf {
  return (object) => {
    const { resource, namespace, name } = object;
    return `${resource} ${[namespace, isCertain(object) ? name : anyName].filter((part) => part !== "").join("/")}`;
  };
}

export const namedAs = ({ resource, object: { metadata } }: Found): Named => ({
  resource,
  namespace: metadata.namespace ?? "",
  name: metadata.name,
});

/** The server's own, and what tells only when something happened. */
const left = new Set([
  "uid",
  "resourceVersion",
  "creationTimestamp",
  "generation",
  "managedFields",
  "selfLink",
]);

export function stateOf({ objects, outside }: Snapshot, roleOf: RoleOf): State {
  const roles = new Map(objects.map((found) => [found.object.metadata.uid, roleOf(namedAs(found))]));
  const state = new Map<string, Values[]>();
  for (const found of objects) {
    const role = roleOf(namedAs(found));
    state.set(role, [...(state.get(role) ?? []), valuesOf(found, roles)]);
  }
  if (outside !== undefined) state.set("outside", [flattened(outside)]);
  return state;
}

/** When something happened says nothing: a backoff, or another clock than the test's, is in it. */
const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** @param roles what the objects are called, by uid: a uid that one of them names is no chance. */
export function valuesOf(found: Found, roles: ReadonlyMap<string, string>): Values {
  const { metadata, ...object } = found.object;
  const kept = Object.fromEntries(Object.entries(metadata).filter(([field]) => !left.has(field)));
  const going = metadata.deletionTimestamp !== undefined && { deletionTimestamp: "set" };
  const name = roles.get(metadata.uid) ?? "";
  const generation = String(metadata.generation);
  const told = ([path, value]: readonly [string, string]): readonly [string, string] => {
    if (path.endsWith("observedGeneration")) return [path, value === generation ? "current" : "behind"];
    if (isTime.test(value)) return [path, "a time"];
    return [path, roles.get(value) ?? value];
  };
  const values = [...flattened({ ...object, metadata: { ...kept, name, ...going } })];
  return new Map(values.filter(([path]) => path !== `metadata.annotations.${markOfSomebody}`).map(told));
}

/** Where two objects are not alike. */
export const differingPaths = (a: Values, b: Values): readonly string[] =>
  [...new Set([...a.keys(), ...b.keys()])].filter((path) => a.get(path) !== b.get(path));

function flattened(value: unknown, path = ""): Values {
  if (typeof value !== "object" || value === null || Object.keys(value).length === 0) {
    return new Map([[path, typeof value === "string" ? value : writeJson(value)]]);
  }
  const below = (key: string): string => {
    if (Array.isArray(value)) return `${path}[${key}]`;
    return path === "" ? key : `${path}.${key}`;
  };
  return new Map(Object.entries(value).flatMap(([key, part]) => [...flattened(part, below(key))]));
}
