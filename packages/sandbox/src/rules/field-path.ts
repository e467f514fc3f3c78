// The fieldPath of a rule names the part of an object that its error is about.
import { field, isObject } from "../json.ts";
import type { Json } from "../json.ts";

const step = /\.([^.[\]]+)|\['((?:\\.|[^'\\])*)'\]/y;
/** The path in the fieldPath of a rule as errors show it; undefined if the schema does not have it. */
export function fieldPathIn(text: string, schema: Json): string | undefined {
  let [path, at, last]: [string, Json | undefined, number] = ["", schema, 0];
  for (const [all, name, key = ""] of text.matchAll(new RegExp(step, "gy"))) {
    const properties = field(at, "properties");
    const part = name ?? key.replaceAll(/\\(.)/g, "$1");
    at = isObject(properties) ? field(properties, part) : field(at, "additionalProperties");
    if (!isObject(at)) return undefined;
    path += isObject(properties) ? `${path === "" ? "" : "."}${part}` : `[${part}]`;
    last += all.length;
  }
  return last === text.length && path !== "" ? path : undefined;
}
