// Label and field selectors, parsed from the query of a request into one predicate.
import { field, isString, listAt, objectAt, textAt, textsAt } from "./json.ts";
import type { Json } from "./json.ts";
import { nameOf, namespaceOf } from "./kube-object.ts";
import type { KubeObject } from "./kube-object.ts";
import type { ResourceType } from "./resource-type.ts";
import { badRequest } from "./status.ts";

export type Matches = (object: KubeObject) => boolean;

const labelKey = "(?:[A-Za-z0-9.-]+/)?[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?";
const labelValue = "(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?";
const equality = new RegExp(`^(${labelKey})\\s*(=|==|!=)\\s*(${labelValue})$`);
const membership = new RegExp(`^(${labelKey})\\s+(in|notin)\\s*\\(([^()]*)\\)$`);
const existence = new RegExp(`^(!?)\\s*(${labelKey})$`);
const wholeValue = new RegExp(`^${labelValue}$`);
const comparison = new RegExp(`^(${labelKey})\\s*([<>])\\s*(-?\\d+)$`);

function oneOf(list: string): ReadonlySet<string> {
  const values = list.split(",").map((value) => value.trim());
  const bad = values.find((value) => !wholeValue.test(value));
  if (bad !== undefined)
    throw badRequest(`unable to parse requirement: invalid label value: ${JSON.stringify(bad)}`);
  return new Set(values);
}

function requirement(text: string): (labels: (key: string) => string | undefined) => boolean {
  const [, key = "", operator, value = ""] = equality.exec(text) ?? [];
  if (operator === "!=") return (label) => label(key) !== value;
  if (operator) return (label) => label(key) === value;
  const [, setKey = "", setOperator, list = ""] = membership.exec(text) ?? [];
  if (setOperator) {
    const values = oneOf(list);
    return (label) => values.has(label(setKey) ?? "\0") === (setOperator === "in");
  }
  const [, than = "", sign, bound] = comparison.exec(text) ?? [];
  if (sign)
    return (label) => {
      const found = label(than) ?? "";
      return (
        /^-?\d+$/.test(found) &&
        (sign === ">" ? Number(found) > Number(bound) : Number(found) < Number(bound))
      );
    };
  const [, not, present] = existence.exec(text) ?? [];
  if (present !== undefined) return (label) => (label(present) !== undefined) === (not === "");
  throw badRequest(
    `unable to parse requirement: found ${JSON.stringify(text)}, expected a label requirement`,
  );
}

/** Commas between requirements, not those inside `in (a,b)`. */
function split(text: string): string[] {
  const parts = text === "" ? [] : text.split(/,(?![^()]*\))/).map((part) => part.trim());
  if (parts.includes("")) throw badRequest(`found '', expected: identifier after ','`);
  return parts;
}

/** A predicate from a label selector's text. Throws a 400 for what does not parse. */
export function labelsMatch(selector: string): Matches {
  const requirements = split(selector).map(requirement);
  return (object) => {
    const labels = objectAt(object, "metadata", "labels");
    return requirements.every((matches) => matches((key) => textAt(labels, key)));
  };
}

const operators: Readonly<Record<string, string>> = {
  In: " in ",
  NotIn: " notin ",
  Exists: "",
  DoesNotExist: "",
};

/** A LabelSelector as the text that selects the same, sorted by key. */
export function selectorText(selector: Json | undefined): string {
  const labels = Object.entries(objectAt(selector, "matchLabels")).map(([key, value]) => [
    key,
    `${key}=${shown(value)}`,
  ]);
  const expressions = listAt(selector, "matchExpressions").map((one) => {
    const [key, operator] = [textAt(one, "key") ?? "", textAt(one, "operator") ?? ""];
    const values = operator.endsWith("In") ? `(${[...textsAt(one, "values")].sort().join(",")})` : "";
    return [key, `${operator === "DoesNotExist" ? "!" : ""}${key}${operators[operator] ?? ""}${values}`];
  });
  return [...labels, ...expressions]
    .sort(([a = ""], [b = ""]) => (a < b ? -1 : 1))
    .map(([, text]) => text)
    .join(",");
}

const shown = (value: Json | undefined): string =>
  isString(value) ? value : value === undefined || value === null ? "" : JSON.stringify(value);

function readField(type: ResourceType, path: string): (object: KubeObject) => string {
  if (path === "metadata.name" || (path === "name" && type.kind === "Namespace")) return nameOf;
  if (path === "metadata.namespace" && (type.namespaced || !type.custom)) return namespaceOf;
  if (!type.selectable.includes(path)) throw badRequest(`field label not supported: ${path}`);
  if (path === "source")
    return (event) => textAt(event, "source", "component") ?? shown(field(event, "reportingComponent"));
  return (object) => shown(field(object, ...path.split(".")));
}

function fieldsMatch(type: ResourceType, selector: string): Matches {
  const terms = split(selector).map((term) => {
    const [, path = "", operator, wanted = ""] = /^([^!=]+?)(!=|==|=)(.*)$/.exec(term) ?? [];
    if (!operator)
      throw badRequest(
        `invalid selector: ${JSON.stringify(selector)}; can't understand ${JSON.stringify(term)}`,
      );
    const read = readField(type, path);
    return (object: KubeObject) => (read(object) === wanted) === (operator !== "!=");
  });
  return (object) => terms.every((matches) => matches(object));
}

/** One predicate from both selectors of a request; undefined selects everything. Throws a 400 for what does not parse. */
export function selectedBy(type: ResourceType, labels: string, fields: string): Matches | undefined {
  if (labels === "" && fields === "") return undefined;
  const byLabels = labelsMatch(labels);
  const byFields = fieldsMatch(type, fields);
  return (object) => byLabels(object) && byFields(object);
}
