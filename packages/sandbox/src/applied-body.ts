// The body of a server-side apply: YAML, which JSON is too.
import { exactYaml } from "@drover/json";
import { parse, YAMLParseError } from "yaml";
import { isJson, isObject } from "./json.ts";
import type { JsonObject } from "./json.ts";
import { badRequest } from "./status.ts";

/** What a media type of a patch with parameters is, in lower case. */
export const mediaOf = (contentType: string): string => contentType.split(";")[0]?.trim().toLowerCase() ?? "";

export const isApply = (contentType: string): boolean =>
  mediaOf(contentType) === "application/apply-patch+yaml";

const refusal = "error decoding YAML: error unmarshaling JSON: while decoding JSON: ";
const goName = (value: unknown): string =>
  Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;

const options = { ...exactYaml.options, uniqueKeys: false, maxAliasCount: 100 };

/** Parses the body. Throws 400 when it is no YAML, several documents, or no object. */
export function appliedBody(body: Uint8Array): JsonObject {
  try {
    const value: unknown = parse(Buffer.from(body).toString(), exactYaml.reviver, options);
    if (isJson(value) && isObject(value)) return value;
    throw badRequest(
      `${refusal}json: cannot unmarshal ${goName(value)} into Go value of type map[string]interface {}`,
    );
  } catch (error) {
    // The parser follows an anchor into itself until its stack is full.
    if (error instanceof RangeError)
      throw badRequest("error decoding YAML: it nests too deep, or an anchor contains itself");
    if (!(error instanceof YAMLParseError) && !(error instanceof ReferenceError)) throw error;
    throw badRequest(`error decoding YAML: ${error.message}`);
  }
}
