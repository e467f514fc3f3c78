// Reading Kubernetes' protobuf bodies, as far as `kubectl create configmap` and its like send them: typed Go clients
// prefer protobuf to JSON. Answers are always JSON, which they take as well.
import { isObject, listAt, objectAt, textAt } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";
import { badRequest, unsupportedMediaType } from "./status.ts";

/** A field's name in JSON (`[]` after those that repeat) and what its bytes mean. */
type Form = "text" | "base64" | "number" | "count" | "flag" | "port" | "texts" | "base64s" | Shape;
/** A `count` is told also when it is zero; `-` is a name of what is not read. */
type Field = readonly [string, Form];
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

const selector = numbered(["matchLabels", "texts"], ["matchExpressions[]", texts("- key operator values[]")]);
const containerPort: Shape = {
  ...texts("- name - - protocol hostIP"),
  2: ["hostPort", "number"],
  3: ["containerPort", "number"],
};
const container: Shape = {
  ...texts("- name image command[] args[] workingDir"),
  6: ["ports[]", containerPort],
  7: ["env[]", texts("- name value")],
  14: ["imagePullPolicy", "text"],
};
const template = numbered(metadata, [
  "spec",
  { 2: ["containers[]", container], 3: ["restartPolicy", "text"] },
]);
const deployment: Shape = {
  1: ["replicas", "count"],
  2: ["selector", selector],
  3: ["template", template],
  4: ["strategy", { 1: ["type", "text"] }],
};
const servicePort: Shape = {
  ...texts("- name protocol - - -"),
  3: ["port", "number"],
  4: ["targetPort", "port"],
  5: ["nodePort", "number"],
};
const service: Shape = {
  1: ["ports[]", servicePort],
  2: ["selector", "texts"],
  3: ["clusterIP", "text"],
  4: ["type", "text"],
  10: ["externalName", "text"],
};
const unread: Field = ["-", "text"];

const kinds: Readonly<Record<string, Shape>> = {
  Deployment: numbered(metadata, ["spec", deployment], unread),
  Service: numbered(metadata, ["spec", service], unread),
  Namespace: numbered(metadata, unread, unread),
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

function valueOf(form: Form, raw: number | Uint8Array): Json {
  if (form === "port" && typeof raw !== "number") {
    const { kind, number, name } = message(
      raw,
      numbered(["kind", "number"], ["number", "number"], ["name", "text"]),
    );
    return kind === 1 ? (name ?? "") : (number ?? 0);
  }
  if (typeof raw === "number") return form === "flag" ? raw !== 0 : raw;
  if (form === "base64") return Buffer.from(raw).toString("base64");
  if (form !== "texts" && form !== "base64s")
    return typeof form === "object" ? message(raw, form) : Buffer.from(raw).toString();
  const entry = message(raw, numbered(["key", "text"], ["value", form === "texts" ? "text" : "base64"]));
  return { [textAt(entry, "key") ?? ""]: entry["value"] ?? "" };
}

const isZero = (raw: number | Uint8Array): boolean => (typeof raw === "number" ? raw : raw.length) === 0;

/**
 * One message. Empty texts and zeroes are left out, as they are in JSON. Throws 415 for a field with something in it
 * that is not known: better sent again as JSON than lost.
 */
function message(bytes: Uint8Array, shape: Shape): JsonObject {
  let result: JsonObject = {};
  for (const [number, raw] of wire(bytes)) {
    const known = shape[number];
    if (!known && !isZero(raw)) throw unsupportedMediaType(["application/json"]);
    const [name, form] = known ?? unread;
    if (name === "-" || name === "") continue;
    const value = valueOf(form, raw);
    const list = name.endsWith("[]") && name.slice(0, -2);
    if (!list && form !== "count" && (value === "" || value === 0)) continue;
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
