// The label and field selectors of a query, as one predicate.
import { writeJson } from "@drover/json";
import { field, isString, objectAt, textAt } from "../json.ts";
import type { Json } from "../json.ts";
import { labelRequirements } from "./label-selector.ts";
import { nameOf, namespaceOf } from "../kube-object.ts";
import type { KubeObject } from "../kube-object.ts";
import type { ResourceType } from "../kinds/resource-type.ts";
import { badRequest } from "../http/status.ts";

export type Matches = (object: KubeObject) => boolean;

function labelsMatch(selector: string): Matches {
  const matches = labelRequirements(selector);
  return (object) => {
    const labels = objectAt(object, "metadata", "labels");
    return matches((key) => textAt(labels, key));
  };
}

const shown = (value: Json | undefined): string =>
  isString(value) ? value : value === undefined || value === null ? "" : writeJson(value);

function readField(type: ResourceType, path: string): (object: KubeObject) => string {
  if (path === "metadata.name" || (path === "name" && type.kind === "Namespace")) return nameOf;
  if (path === "metadata.namespace" && (type.namespaced || !type.custom)) return namespaceOf;
  if (!type.selectable.includes(path))
    throw badRequest(
      type.custom || type.selectable.length > 0
        ? `field label not supported: ${path}`
        : `${JSON.stringify(path)} is not a known field selector: only "metadata.name", "metadata.namespace"`,
    );
  return (object) => shown(field(object, ...path.split(".")));
}

const unescaped = (value: string): string =>
  value.replaceAll(/\\(.?)/g, (all, next: string) => {
    if (next === "\\" || next === "," || next === "=") return next;
    throw badRequest(`invalid field selector: invalid escape sequence: ${all}`);
  });

function fieldsMatch(type: ResourceType, selector: string): Matches {
  const terms = (selector.match(/(?:\\.|[^,\\])+/gs) ?? []).map((term) => {
    const [, path = "", operator, wanted = ""] = /^((?:\\.|[^!=\\])*?)(!=|==|=)(.*)$/s.exec(term) ?? [];
    if (!operator) throw badRequest(`invalid selector: '${selector}'; can't understand '${term}'`);
    const value = unescaped(wanted);
    const read = readField(type, path);
    return (object: KubeObject) => (read(object) === value) === (operator !== "!=");
  });
  return (object) => terms.every((matches) => matches(object));
}

/** The predicate of both selectors of a request; undefined selects all objects. Throws 400 if one cannot be parsed. */
export function selectedBy(type: ResourceType, labels: string, fields: string): Matches | undefined {
  if (labels === "" && fields === "") return undefined;
  const byLabels = labelsMatch(labels);
  const byFields = fieldsMatch(type, fields);
  return (object) => byLabels(object) && byFields(object);
}
