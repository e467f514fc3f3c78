// The rules for names, labels and annotations, with the words in which the API server refuses them.
import { forbidden, invalid, required } from "./field-errors.ts";
import type { FieldError } from "./field-errors.ts";
import { isString, listAt, objectAt, textAt, textsAt } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";
import type { NameRule, ResourceType } from "./resource-type.ts";

interface Rule {
  readonly pattern: string;
  readonly most: number;
  readonly says: string;
  readonly examples: string;
}

const label = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const rules: Readonly<Record<"subdomain" | "label" | "service" | "key" | "value", Rule>> = {
  subdomain: {
    pattern: `${label}(\\.${label})*`,
    most: 253,
    says: "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
    examples: "e.g. 'example.com'",
  },
  label: {
    pattern: label,
    most: 63,
    says: "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
    examples: "e.g. 'my-name',  or '123-abc'",
  },
  service: {
    pattern: "[a-z]([-a-z0-9]*[a-z0-9])?",
    most: 63,
    says: "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
    examples: "e.g. 'my-name',  or 'abc-123'",
  },
  key: {
    pattern: "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]",
    most: 63,
    says: "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
    examples: "e.g. 'MyName',  or 'my.name',  or '123-abc'",
  },
  value: {
    pattern: "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?",
    most: 63,
    says: "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
    examples: "e.g. 'MyValue',  or 'my_value',  or '12345'",
  },
};

function broken(text: string, { pattern, most, says, examples }: Rule, prefix = ""): string[] {
  const faults: string[] = [];
  if (text.length > most) faults.push(`${prefix}must be no more than ${most} bytes`);
  if (!new RegExp(`^(?:${pattern})$`).test(text))
    faults.push(`${prefix}${says} (${examples}, regex used for validation is '${pattern}')`);
  return faults;
}

const pathFaults = (name: string): string[] => [
  ...(name === "." || name === ".." ? [`may not be '${name}'`] : []),
  ...["/", "%"].filter((part) => name.includes(part)).map((part) => `may not contain '${part}'`),
];

/** What is wrong with a name under a kind's rule, one sentence each. */
export const nameFaults = (rule: NameRule, name: string): string[] =>
  rule === "path" ? pathFaults(name) : broken(name, rules[rule]);

/** A label key, annotation key or finalizer: an optional DNS prefix, a slash, a name. */
function qualifiedFaults(key: string): string[] {
  const parts = key.split("/");
  if (parts.length > 2)
    return [
      `a qualified name ${rules.key.says} (${rules.key.examples}, regex used for validation is '${rules.key.pattern}') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  const [prefix, name = ""] = parts.length === 2 ? parts : [undefined, key];
  const faults =
    prefix === undefined
      ? []
      : prefix === ""
        ? ["prefix part must be non-empty"]
        : broken(prefix, rules.subdomain, "prefix part ");
  return [
    ...faults,
    ...(name === "" ? ["name part must be non-empty"] : []),
    ...broken(name, rules.key, "name part "),
  ];
}

function ownerErrors(owners: readonly Json[]): FieldError[] {
  const at = "metadata.ownerReferences";
  const missing = owners.flatMap((owner) =>
    ["apiVersion", "kind", "name", "uid"]
      .filter((key) => !textAt(owner, key))
      .map((key) =>
        invalid(`${at}.${key}`, "", key === "apiVersion" ? "version must not be empty" : "must not be empty"),
      ),
  );
  const [first, second] = owners.filter((owner) => objectAt(owner)["controller"] === true);
  if (!first || !second) return missing;
  const told = [first, second].map(
    (owner) => `${textAt(owner, "kind") ?? ""}/${textAt(owner, "name") ?? ""}`,
  );
  return [
    ...missing,
    invalid(
      at,
      owners,
      `Only one reference can have Controller set to true. Found "true" in references for ${told.join(" and ")}`,
    ),
  ];
}

/** What is wrong with an object's metadata, whatever its kind. */
export function metadataErrors(type: ResourceType, metadata: JsonObject): FieldError[] {
  const name = textAt(metadata, "name") ?? "";
  const labels = Object.entries(objectAt(metadata, "labels"));
  const annotations = Object.entries(objectAt(metadata, "annotations"));
  const at = (path: string, faults: readonly string[], value: Json): FieldError[] =>
    faults.map((fault) => invalid(`metadata.${path}`, value, fault));
  const size = annotations.reduce(
    (sum, [key, value]) => sum + key.length + (isString(value) ? value.length : 0),
    0,
  );
  return [
    ...(name === ""
      ? [required("metadata.name", "name or generateName is required")]
      : at("name", nameFaults(type.nameRule, name), name)),
    ...(!type.namespaced && textAt(metadata, "namespace")
      ? [forbidden("metadata.namespace", "not allowed on this type")]
      : []),
    ...labels.flatMap(([key, value]) => [
      ...at("labels", qualifiedFaults(key), key),
      ...(isString(value) ? at("labels", broken(value, rules.value), value) : []),
    ]),
    ...annotations.flatMap(([key]) => at("annotations", qualifiedFaults(key.toLowerCase()), key)),
    ...(size > 256 * 1024
      ? [
          {
            reason: "FieldValueTooLong",
            field: "metadata.annotations",
            body: `Too long: may not be more than ${256 * 1024} bytes`,
          },
        ]
      : []),
    ...ownerErrors(listAt(metadata, "ownerReferences")),
    ...textsAt(metadata, "finalizers").flatMap((one) => at("finalizers", qualifiedFaults(one), one)),
  ];
}
