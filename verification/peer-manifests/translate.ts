import { exactYaml } from "@drover/json";
import { parseAllDocuments } from "yaml";
import { isJson, isObject, type JsonObject, listAt, textAt } from "../../packages/sandbox/src/json.ts";
import { translateAck } from "./ack.ts";
import { nameOf, type Problem } from "./bucket-draft.ts";
import { translateCrossplane } from "./crossplane.ts";

export interface Translation {
  /** Objects of Drover's kind `Bucket`. */
  readonly manifests: readonly JsonObject[];
  readonly problems: readonly Problem[];
}

/**
 * Translates the manifests of buckets in a text, YAML or JSON, of ACK or Crossplane.
 *
 * Every setting is translated completely, or left out with a problem that names it.
 *
 * @throws Error if the text is no YAML.
 */
export function translate(text: string): Translation {
  const problems: Problem[] = [];
  const report = (problem: Problem): void => void problems.push(problem);
  const ack: JsonObject[] = [];
  const crossplane: JsonObject[] = [];
  for (const object of objectsIn(text)) {
    const apiVersion = textAt(object, "apiVersion") ?? "";
    if (/^s3\.services\.k8s\.aws\//.test(apiVersion) && object["kind"] === "Bucket") ack.push(object);
    else if (/^s3\.aws\.(m\.)?upbound\.io\//.test(apiVersion)) crossplane.push(object);
    else {
      const message = "Only buckets of ACK and Crossplane are translated. The object is left out.";
      report({ level: "error", at: `${nameOf(object)}, apiVersion ${apiVersion}`, message });
    }
  }
  const manifests = [
    ...ack.map((peer) => translateAck(peer, report)).filter((manifest) => manifest !== undefined),
    ...translateCrossplane(crossplane, report),
  ];
  return { manifests, problems };
}

function objectsIn(text: string): JsonObject[] {
  const documents = parseAllDocuments(text, exactYaml.options);
  if (!Array.isArray(documents)) return [];
  return documents.flatMap((document): JsonObject[] => {
    for (const error of document.errors) throw error;
    const value: unknown = document.toJS({ reviver: exactYaml.reviver });
    if (!isJson(value) || !isObject(value)) return [];
    return textAt(value, "kind") === "List" ? listAt(value, "items").filter(isObject) : [value];
  });
}
