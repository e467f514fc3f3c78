// YAML in the body of a request, as sigs.k8s.io/yaml reads it: YAML 1.1, but sexagesimal numbers and times are texts.
import { exactYaml } from "@drover/json";
import { parseAllDocuments } from "yaml";
import type { Tags } from "yaml";
import { isJson, parseJson } from "../json.ts";
import type { Json } from "../json.ts";
import { badRequest } from "./status.ts";

const isRead = (tag: Tags[number]): boolean =>
  typeof tag === "string" ||
  !(/:(timestamp|binary)$/.test(tag.tag) || ("format" in tag && tag.format === "TIME"));
const options = {
  ...exactYaml.options,
  version: "1.1",
  uniqueKeys: false,
  logLevel: "silent",
  customTags: (tags: Tags): Tags => tags.filter(isRead),
} as const;

const refusal = (why: string): Error =>
  badRequest(`error decoding YAML: error converting YAML to JSON: yaml: ${why}`);

function firstDocument(text: string): unknown {
  try {
    const [document] = parseAllDocuments(text, options);
    const [error] = document?.errors ?? [];
    if (error) throw error;
    return document?.toJS({ reviver: exactYaml.reviver, maxAliasCount: 100 }) ?? null;
  } catch (error) {
    throw refusal(error instanceof Error ? error.message : String(error));
  }
}

/** The first document of a text in YAML or JSON. Throws 400 if it is invalid, too deep, or expands too many aliases. */
export function parseYaml(text: string): Json {
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  const value = firstDocument(text);
  if (!isJson(value)) throw refusal("exceeded max depth");
  return value;
}
