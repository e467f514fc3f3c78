// Reading Kubernetes' protobuf bodies, as far as `kubectl create configmap` and its like send them: typed Go clients
// prefer protobuf to JSON. Answers are always JSON, which they take as well.
import { isObject, listAt, objectAt, textAt } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";
import { badRequest, unsupportedMediaType } from "./status.ts";

/** A field's name in JSON (`[]` after those that repeat) and what its bytes mean. */
type Field = readonly [string, "text" | "base64" | "number" | "flag" | "texts" | "base64s" | Shape];
/** The fields of a message by number. */
interface Shape {
  readonly [number: number]: Field;
}

const texts = (names: string): Shape => names.split(" ").map((name): Field => [name, "text"]);
/** Numbers begin with 1: what stands at 0 is never looked up. */
const numbered = (...fields: readonly Field[]): Shape => [["", "text"], ...fields];

const owner: Shape = {
  ...texts("- kind - name uid apiVersion"),
  6: ["controller", "flag"],
  7: ["blockOwnerDeletion", "flag"],
};
const metadata: Field = [
  "metadata",
  {
    ...texts("- name generateName namespace selfLink uid resourceVersion"),
    7: ["generation", "number"],
    11: ["labels", "texts"],
    12: ["annotations", "texts"],
    13: ["ownerReferences[]", owner],
    14: ["finalizers[]", "text"],
  },
];
const rules: Field = [
  "rules[]",
  texts("- verbs[] apiGroups[] resources[] resourceNames[] nonResourceURLs[]"),
];
const role = numbered(metadata, rules);
const binding = numbered(
  metadata,
  ["subjects[]", texts("- kind apiGroup name namespace")],
  ["roleRef", texts("- apiGroup kind name")],
);
const kinds: Readonly<Record<string, Shape>> = {
  Namespace: numbered(metadata),
  ConfigMap: numbered(metadata, ["data", "texts"], ["binaryData", "base64s"], ["immutable", "flag"]),
  Secret: numbered(
    metadata,
    ["data", "base64s"],
    ["type", "text"],
    ["stringData", "texts"],
    ["immutable", "flag"],
  ),
  ServiceAccount: numbered(metadata),
  Role: role,
  ClusterRole: role,
  RoleBinding: binding,
  ClusterRoleBinding: binding,
};

function varint(bytes: Uint8Array, at: number): [number, number] {
  let value = 0;
  for (let i = at, scale = 1; i < bytes.length && i < at + 10; i += 1, scale *= 128) {
    const byte = bytes[i] ?? 0;
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return [value, i + 1];
  }
  throw badRequest("the protobuf body ends within a number");
}

function* wire(bytes: Uint8Array): Generator<[number, number | Uint8Array]> {
  for (let at = 0; at < bytes.length;) {
    const [tag, start] = varint(bytes, at);
    const [value, next] = varint(bytes, start);
    if (tag % 8 !== 0 && tag % 8 !== 2)
      throw badRequest("the protobuf body has fields of a type that Kubernetes does not use");
    at = tag % 8 === 0 ? next : next + value;
    if (at > bytes.length) throw badRequest("the protobuf body ends within a field");
    yield [Math.floor(tag / 8), tag % 8 === 0 ? value : bytes.subarray(next, at)];
  }
}

function valueOf(form: Field[1], raw: number | Uint8Array): Json {
  if (typeof raw === "number") return form === "flag" ? raw !== 0 : raw;
  if (form === "base64") return Buffer.from(raw).toString("base64");
  if (form !== "texts" && form !== "base64s")
    return typeof form === "object" ? message(raw, form) : Buffer.from(raw).toString();
  const entry = message(raw, numbered(["key", "text"], ["value", form === "texts" ? "text" : "base64"]));
  return { [textAt(entry, "key") ?? ""]: entry["value"] ?? "" };
}

/** One message. Empty texts and zeroes are left out, as they are in JSON. */
function message(bytes: Uint8Array, shape: Shape): JsonObject {
  let result: JsonObject = {};
  for (const [number, raw] of wire(bytes)) {
    const [name, form] = shape[number] ?? ["", "text"];
    const value = valueOf(form, raw);
    const list = name.endsWith("[]") && name.slice(0, -2);
    if (name === "" || name === "-" || (!list && (value === "" || value === 0))) continue;
    const merged = isObject(value) ? { ...objectAt(result, name), ...value } : value;
    result = list ? { ...result, [list]: [...listAt(result, list), value] } : { ...result, [name]: merged };
  }
  return result;
}

/** The object in a protobuf body. Throws 415 for kinds that the sandbox reads as JSON only, 400 for what is none. */
export function fromProtobuf(body: Uint8Array): JsonObject {
  if (Buffer.from(body.subarray(0, 4)).toString("latin1") !== "k8s\0")
    throw badRequest("the body is not Kubernetes protobuf");
  const parts = new Map(wire(body.subarray(4)));
  const [type, raw] = [parts.get(1), parts.get(2)];
  if (!(type instanceof Uint8Array) || !(raw instanceof Uint8Array))
    throw badRequest("the protobuf body has no object");
  const typeMeta = message(type, texts("- apiVersion kind"));
  const shape = kinds[textAt(typeMeta, "kind") ?? ""];
  if (!shape) throw unsupportedMediaType(["application/json"]);
  return { ...typeMeta, ...message(raw, shape) };
}
