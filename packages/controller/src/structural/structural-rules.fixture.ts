// Kubernetes' rules for structural schemas, written from its documentation: the generator of schemas must follow them.

type Node = Readonly<Record<string, unknown>>;

const always = ["format", "enum", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
const values = [
  ...always,
  "minLength",
  "maxLength",
  "pattern",
  "minItems",
  "maxItems",
  "maxProperties",
  "required",
];
const logic = ["allOf", "anyOf", "oneOf"];
const nestedKeys = new Set([...values, ...logic, "not", "properties"]);
const structureKeys = new Set([
  ...nestedKeys,
  ...["type", "title", "description", "nullable", "default", "items", "additionalProperties"],
  ...["x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-validations"],
  ...["x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type"],
]);
const types = new Set<unknown>(["object", "array", "string", "integer", "number", "boolean"]);

/** @returns each violation of the rules, with its path; empty for a structural schema. */
export function brokenRules(schema: unknown, path = ""): string[] {
  if (!isNode(schema)) return [`${path}: not an object`];
  const at = (problem: string) => `${path}: ${problem}`;
  return [
    ...unknownKeys(schema, structureKeys).map(at),
    ...typeRules(schema).map(at),
    ...valueRules(schema).map(at),
    ...children(schema).flatMap(([step, child]) => brokenRules(child, path + step)),
    ...nested(schema).flatMap(([step, child]) => brokenNested(child, schema, path + step)),
  ];
}

/** The rules below a logical keyword: no structure there, and every field is declared outside. */
function brokenNested(node: unknown, outside: Node, path: string): string[] {
  if (!isNode(node)) return [`${path}: not an object`];
  const fields = Object.entries(isNode(node["properties"]) ? node["properties"] : {});
  return [
    ...unknownKeys(node, nestedKeys).map((problem) => `${path}: ${problem}`),
    ...valueRules({ ...node, type: outside["type"] }).map((problem) => `${path}: ${problem}`),
    ...nested(node).flatMap(([step, child]) => brokenNested(child, outside, path + step)),
    ...fields.flatMap(([name, child]) => {
      const known = member(outside["properties"], name);
      return isNode(known)
        ? brokenNested(child, known, `${path}.${name}`)
        : [`${path}.${name}: not known outside`];
    }),
    ...list(node["required"])
      .filter((name) => member(outside["properties"], String(name)) === undefined)
      .map((name) => `${path}: requires ${String(name)}, which is not known outside`),
  ];
}

const unknownKeys = (node: Node, known: ReadonlySet<string>): string[] =>
  Object.keys(node)
    .filter((key) => !known.has(key))
    .map((key) => `${key} does not belong here`);

function typeRules(node: Node): string[] {
  const { type } = node;
  const intOrString = node["x-kubernetes-int-or-string"] === true;
  const open = node["x-kubernetes-preserve-unknown-fields"] === true;
  const problems = {
    "a type is missing": type === undefined && !intOrString && !open,
    "a type beside int-or-string": type !== undefined && intOrString,
    "no such type": type !== undefined && !types.has(type),
    "properties beside additionalProperties": "properties" in node && "additionalProperties" in node,
    "additionalProperties is no schema":
      "additionalProperties" in node && !isNode(node["additionalProperties"]),
    "fields, but no object": type !== "object" && ("properties" in node || "additionalProperties" in node),
    "items, but no list": type !== "array" && "items" in node,
    "a list without items": type === "array" && !isNode(node["items"]),
    "unknown fields, but no object": open && type !== undefined && type !== "object",
    // The conditions' own time is the exception: Kubernetes writes it so itself.
    "a format that lets lists through":
      type === "string" && node["format"] !== undefined && node["format"] !== "date-time",
    "requires what is not there": list(node["required"]).some(
      (name) => member(node["properties"], String(name)) === undefined,
    ),
  };
  return broken(problems);
}

function valueRules(node: Node): string[] {
  const { type, enum: listed, pattern } = node;
  const bounds = [node["minimum"], node["maximum"]].filter((bound) => bound !== undefined);
  return broken({
    "a bound without effect": bounds.some(
      (bound) => Math.abs(Number(bound)) >= Number.MAX_SAFE_INTEGER && type === "integer",
    ),
    "a bound that is no number": bounds.some((bound) => !Number.isFinite(bound)),
    "an exclusive bound alone":
      ("exclusiveMinimum" in node && !("minimum" in node)) ||
      ("exclusiveMaximum" in node && !("maximum" in node)),
    "an exclusive bound that is no boolean": [node["exclusiveMinimum"], node["exclusiveMaximum"]].some(
      (exclusive) => exclusive !== undefined && typeof exclusive !== "boolean",
    ),
    "a factor that is cut": "multipleOf" in node && !Number.isInteger(node["multipleOf"]),
    "an empty enum": Array.isArray(listed) && listed.length === 0,
    "a value of another type": list(listed).some((value) => !fits(value, type)),
    "an enum that refuses null": node["nullable"] === true && listed !== undefined,
    "a default of null": node["default"] === null,
    "a default of another type": node["default"] != null && !fits(node["default"], type),
    "no text for a pattern": pattern !== undefined && typeof pattern !== "string",
  });
}

function fits(value: unknown, type: unknown): boolean {
  if (type === undefined) return true;
  if (type === "integer") return Number.isInteger(value);
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isNode(value);
  return typeof value === type;
}

function children(node: Node): [string, unknown][] {
  const fields = Object.entries(isNode(node["properties"]) ? node["properties"] : {});
  return [
    ...fields.map(([name, child]): [string, unknown] => [`.${name}`, child]),
    ...("items" in node ? [["[]", node["items"]] satisfies [string, unknown]] : []),
    ...("additionalProperties" in node
      ? [[".*", node["additionalProperties"]] satisfies [string, unknown]]
      : []),
  ];
}

const nested = (node: Node): [string, unknown][] => [
  ...logic.flatMap((key) => list(node[key]).map((child, at): [string, unknown] => [`(${key} ${at})`, child])),
  ...("not" in node ? [["(not)", node["not"]] satisfies [string, unknown]] : []),
];

const broken = (problems: Readonly<Record<string, boolean>>): string[] =>
  Object.entries(problems).flatMap(([problem, is]) => (is ? [problem] : []));
const list = (value: unknown): unknown[] => (Array.isArray(value) ? (value satisfies unknown[]) : []);
const member = (fields: unknown, name: string): unknown =>
  isNode(fields) && Object.hasOwn(fields, name) ? fields[name] : undefined;
const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && !Array.isArray(value);
