// The types of fields, which decide what of a value has managers of its own (structured-merge-diff, schema): from the
// schema of a custom resource, or for a built-in kind from the table of its lists and maps.
import { field, isObject, isTrueAt, textAt, textsAt } from "../json.ts";
import type { Json } from "../json.ts";
import type { ResourceType } from "../kinds/resource-type.ts";
import { keyElement, valueElement } from "./field-set.ts";
import { isAtomicMap, listKeysOf } from "./list-keys.ts";

export interface FieldType {
  readonly isBuiltIn: boolean;
  /** True if the value has one manager, if it is a map. */
  readonly isAtomicMap: boolean;
  /** If the value is a list, the keys of its items: none if each item is its own, undefined if it has one manager. */
  readonly listKeys: readonly string[] | undefined;
  readonly item: () => FieldType;
  readonly fieldAt: (key: string) => FieldType;
  /** True for a named field of a struct, false for a key of a map. */
  readonly declares: (key: string) => boolean;
  readonly defaultOf: (key: string) => Json | undefined;
}

const builtIn = (name: string, parent: string): FieldType => ({
  isBuiltIn: true,
  isAtomicMap: isAtomicMap(name),
  listKeys: listKeysOf(parent, name),
  item: () => builtIn(name, parent),
  fieldAt: (key) => builtIn(key, name),
  declares: () => true,
  defaultOf: (key) => (key === "protocol" ? "TCP" : undefined),
});

const typeMeta = ["apiVersion", "kind", "metadata"];

function bySchema(schema: Json | undefined, isRoot: boolean): FieldType {
  const listType = textAt(schema, "x-kubernetes-list-type");
  const isResource = isRoot || isTrueAt(schema, "x-kubernetes-embedded-resource");
  const others = field(schema, "additionalProperties");
  return {
    isBuiltIn: false,
    isAtomicMap: textAt(schema, "x-kubernetes-map-type") === "atomic",
    listKeys:
      listType === "set"
        ? []
        : listType === "map"
          ? textsAt(schema, "x-kubernetes-list-map-keys")
          : undefined,
    item: () => bySchema(field(schema, "items"), false),
    fieldAt: (key) =>
      isResource && typeMeta.includes(key)
        ? builtIn(key, "")
        : bySchema(field(schema, "properties", key) ?? (isObject(others) ? others : undefined), false),
    declares: (key) =>
      (isResource && typeMeta.includes(key)) || field(schema, "properties", key) !== undefined,
    defaultOf: (key) => field(schema, "properties", key, "default"),
  };
}

/** The type of the objects of a kind. */
export const fieldTypeOf = ({ custom, schema }: ResourceType): FieldType =>
  custom ? bySchema(schema, true) : builtIn("", "");

/** The element of the path of an item in a list that has keys. */
export function elementOf(item: Json, list: FieldType): string {
  const keys = list.listKeys ?? [];
  if (keys.length === 0) return valueElement(item);
  const type = list.item();
  return keyElement(
    Object.fromEntries(
      keys.flatMap((key): [string, Json][] => {
        const value = field(item, key) ?? type.defaultOf(key);
        return value === undefined ? [] : [[key, value]];
      }),
    ),
  );
}
