// ConfigMaps and Secrets: the errors of their keys and sizes, and of updates of immutable ones (core/v1,
// validation.go).
import { forbidden, invalid, tooLong, when } from "../admission/field-errors.ts";
import type { FieldError } from "../admission/field-errors.ts";
import { equal, field, isString, objectAt } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { withTop } from "../kube-object.ts";
import type { KubeObject } from "../kube-object.ts";
import type { Behaviour } from "./resource-type.ts";

const format = "[-._a-zA-Z0-9]+";
const rule = `a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '${format}')`;
const most = 1024 * 1024;

function keyFaults(key: string): string[] {
  return [
    ...(key.length > 253 ? ["must be no more than 253 characters"] : []),
    ...(new RegExp(`^${format}$`).test(key) ? [] : [rule]),
    ...(key === "." ? ["must not be '.'"] : key === ".." ? ["must not be '..'"] : []),
    ...(key.startsWith("..") && key !== ".." ? ["must not start with '..'"] : []),
  ];
}
const keyErrors = (map: JsonObject, path: string): FieldError[] =>
  Object.keys(map).flatMap((key) => keyFaults(key).map((fault) => invalid(`${path}[${key}]`, key, fault)));

const frozen = "field is immutable when `immutable` is set";
/** The errors of an update of an immutable object. */
function frozenErrors(
  object: KubeObject,
  old: KubeObject | undefined,
  parts: readonly string[],
): FieldError[] {
  if (field(old, "immutable") !== true) return [];
  return [
    ...when(field(object, "immutable") !== true, forbidden("immutable", frozen)),
    ...parts.flatMap((part) => when(!equal(field(object, part), field(old, part)), forbidden(part, frozen))),
  ];
}

const sizeOf = (map: JsonObject, bytes: (text: string) => number): number =>
  Object.values(map).reduce<number>((sum, value) => sum + (isString(value) ? bytes(value) : 0), 0);
const decodedSize = (text: string): number => Buffer.byteLength(text, "base64");

export const configMapBehaviour: Behaviour = {
  errors(map, old) {
    const [data, binary] = [objectAt(map, "data"), objectAt(map, "binaryData")];
    const both = Object.keys(data).filter((key) => Object.hasOwn(binary, key));
    return [
      ...frozenErrors(map, old, ["data", "binaryData"]),
      ...keyErrors(data, "data"),
      ...both.map((key) => invalid(`data[${key}]`, key, "duplicate of key present in binaryData")),
      ...keyErrors(binary, "binaryData"),
      ...when(
        sizeOf(data, (text) => Buffer.byteLength(text)) + sizeOf(binary, decodedSize) > most,
        tooLong("[]", most),
      ),
    ];
  },
};

/** `stringData` is for writing only: it ends up in `data`. */
function encoded(secret: KubeObject): KubeObject {
  const plain = Object.entries(objectAt(secret, "stringData"));
  if (plain.length === 0) return withTop(secret, "stringData", undefined);
  const texts = plain.map(
    ([key, value]) => [key, Buffer.from(isString(value) ? value : "").toString("base64")] as const,
  );
  const data = { ...objectAt(secret, "data"), ...Object.fromEntries(texts) };
  return withTop(withTop(secret, "stringData", undefined), "data", data);
}

export const secretBehaviour: Behaviour = {
  completed: encoded,
  errors(secret, old) {
    const data = objectAt(secret, "data");
    const type = field(secret, "type") ?? "";
    return [
      ...when(old !== undefined && type !== field(old, "type"), invalid("type", type, "field is immutable")),
      ...frozenErrors(secret, old, ["data"]),
      ...keyErrors(data, "data"),
      ...when(sizeOf(data, decodedSize) > most, tooLong("data", most)),
    ];
  },
};
