import type { KubeObject } from "@drover/kube";
import {
  field,
  isArray,
  isJson,
  isObject,
  type Json,
  type JsonObject,
  objectAt,
  omit,
  textAt,
} from "../../../packages/sandbox/src/json.ts";
import { type ChildId, childId } from "../histories/actions.ts";

/** The fields of an object by their paths: `spec.replicas`, `spec.ports[80].name`. */
export type Fields = ReadonlyMap<string, Json>;

/** The state of a namespace: the fields of each object that has a kind of children. */
export type State = ReadonlyMap<ChildId, Fields>;

/** Lists of objects in which a field is the key: their order does not matter. */
const keys: Readonly<Record<string, readonly string[]>> = {
  containers: ["name"],
  env: ["name"],
  ports: ["containerPort", "port"],
  volumes: ["name"],
  volumeMounts: ["mountPath"],
};

function keyOfItem(list: string, item: Json): string | undefined {
  for (const key of keys[list] ?? []) {
    const value = field(item, key);
    if (typeof value === "string" || typeof value === "number") return String(value);
  }
  return undefined;
}

/** Adds the leaves of a value. Empty objects are left out: only some servers and clients write them. */
function addLeaves(fields: Map<string, Json>, value: Json, path: string, name: string): void {
  if (isObject(value)) {
    for (const [key, inner] of Object.entries(value))
      addLeaves(fields, inner, path === "" ? key : `${path}.${key}`, key);
    return;
  }
  if (isArray(value) && value.length > 0 && value.every((item) => keyOfItem(name, item) !== undefined)) {
    for (const item of value) addLeaves(fields, item, `${path}[${keyOfItem(name, item) ?? ""}]`, "");
    return;
  }
  if (isArray(value) && value.length === 0) return;
  fields.set(path, value);
}

export function leavesOf(value: Json): Fields {
  const fields = new Map<string, Json>();
  addLeaves(fields, value, "", "");
  return fields;
}

/** What the server and the contestants write for themselves. */
const ofServer = [
  "uid",
  "resourceVersion",
  "creationTimestamp",
  "generation",
  "managedFields",
  "namespace",
  "selfLink",
];
const isMark = (name: string): boolean =>
  name.startsWith("drover.dev/") || name.startsWith("metacontroller.k8s.io/") || name === "controller-uid";
const withoutMarks = (map: JsonObject): JsonObject => omit(map, ...Object.keys(map).filter(isMark));

/** The owners, by how they are related to the parents of a namespace; uids are the server's. */
function ownersOf(object: Json, parents: ReadonlySet<string>): Json {
  const owners = field(object, "metadata", "ownerReferences");
  return isArray(owners)
    ? owners.map((owner) => ({
        owner: parents.has(textAt(owner, "uid") ?? "") ? "its parent" : (field(owner, "kind") ?? null),
        controller: field(owner, "controller") ?? false,
      }))
    : [];
}

/** Addresses and ports of a node are chosen by the server. */
function withoutAllocations(spec: JsonObject): JsonObject {
  const ports = spec["ports"];
  const bare = omit(spec, "clusterIP", "clusterIPs");
  return isArray(ports)
    ? { ...bare, ports: ports.map((port) => (isObject(port) ? omit(port, "nodePort") : port)) }
    : bare;
}

function shown(object: JsonObject, parents: ReadonlySet<string>): JsonObject {
  const metadata = objectAt(object, "metadata");
  const isService = object["kind"] === "Service";
  return {
    ...omit(object, "status"),
    metadata: {
      ...omit(metadata, ...ofServer),
      labels: withoutMarks(objectAt(metadata, "labels")),
      annotations: withoutMarks(objectAt(metadata, "annotations")),
      ownerReferences: ownersOf(object, parents),
    },
    ...(isService && { spec: withoutAllocations(objectAt(object, "spec")) }),
  };
}

export const asJson = (object: KubeObject): JsonObject => {
  const value: unknown = object;
  if (isJson(value) && isObject(value)) return value;
  throw new Error(`${object.kind} ${object.metadata.name} is not JSON.`);
};

/** @param parents the uids of the parents in the namespace. */
export const stateOf = (objects: readonly KubeObject[], parents: readonly string[]): State =>
  new Map(
    objects.map((object) => {
      const json = asJson(object);
      return [childId(json), leavesOf(shown(json, new Set(parents)))];
    }),
  );
