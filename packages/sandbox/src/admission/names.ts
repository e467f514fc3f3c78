// The rules for names, labels and annotations, with the words in which the API server refuses them.
import { inForeground, orphaning } from "../writing/deletion-policy.ts";
import { forbidden, invalid, required, tooLong, when } from "./field-errors.ts";
import type { FieldError } from "./field-errors.ts";
import { isString, listAt, objectAt, textAt, textsAt } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import type { NameRule, ResourceType } from "../kinds/resource-type.ts";

interface Rule {
  readonly pattern: string;
  readonly most: number;
  readonly unit: "characters" | "bytes";
  readonly requirement: string;
  readonly examples: string;
}

const label = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const key = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const ends = "and must start and end with an alphanumeric character";
const rules: Readonly<Record<"subdomain" | "label" | "version" | "key" | "value", Rule>> = {
  subdomain: {
    pattern: `${label}(\\.${label})*`,
    most: 253,
    unit: "characters",
    requirement: `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', ${ends}`,
    examples: "e.g. 'example.com'",
  },
  label: {
    pattern: label,
    most: 63,
    unit: "characters",
    requirement: `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', ${ends}`,
    examples: "e.g. 'my-name',  or '123-abc'",
  },
  version: {
    pattern: "[a-z]([-a-z0-9]*[a-z0-9])?",
    most: 63,
    unit: "characters",
    requirement:
      "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
    examples: "e.g. 'my-name',  or 'abc-123'",
  },
  key: {
    pattern: key,
    most: 63,
    unit: "bytes",
    requirement: `must consist of alphanumeric characters, '-', '_' or '.', ${ends}`,
    examples: "e.g. 'MyName',  or 'my.name',  or '123-abc'",
  },
  value: {
    pattern: `(${key})?`,
    most: 63,
    unit: "bytes",
    requirement: `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', ${ends}`,
    examples: "e.g. 'MyValue',  or 'my_value',  or '12345'",
  },
};

const sentence = ({ pattern, requirement, examples }: Rule): string =>
  `${requirement} (${examples}, regex used for validation is '${pattern}')`;
const matches = (text: string, { pattern }: Rule): boolean => new RegExp(`^(?:${pattern})$`).test(text);

function broken(text: string, rule: Rule): string[] {
  const faults = text.length > rule.most ? [`must be no more than ${rule.most} ${rule.unit}`] : [];
  if (matches(text, rule)) return faults;
  const dotted = rule === rules.label && matches(text, rules.subdomain);
  return [...faults, dotted ? "must not contain dots" : sentence(rule)];
}

/** The errors of a name under the rule of its kind, one sentence each. */
export function nameFaults(rule: NameRule, name: string): string[] {
  if (rule !== "path") return broken(name, rules[rule]);
  if (name === "." || name === "..") return [`may not be '${name}'`];
  return ["/", "%"].filter((part) => name.includes(part)).map((part) => `may not contain '${part}'`);
}

/** A label key, annotation key or finalizer: an optional DNS prefix, a slash, a name. */
function qualifiedFaults(text: string): string[] {
  const parts = text.split("/");
  const [name = "", prefix] = parts.toReversed();
  if (parts.length > 2)
    return [
      `a valid label key ${sentence(rules.key)} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  const prefixed =
    prefix === undefined
      ? []
      : prefix === ""
        ? ["must be non-empty"]
        : broken(prefix, { ...rules.subdomain, unit: "bytes" });
  const named = [...(name === "" ? ["must be non-empty"] : []), ...broken(name, rules.key)];
  return [...prefixed.map((fault) => `prefix part ${fault}`), ...named.map((fault) => `name part ${fault}`)];
}

function ownerErrors(owners: readonly Json[]): FieldError[] {
  const at = "metadata.ownerReferences";
  const missing = owners.flatMap((owner) =>
    ["apiVersion", "kind", "name", "uid"]
      .filter((part) => !textAt(owner, part))
      .map((part) =>
        invalid(`${at}.${part}`, "", `${part === "apiVersion" ? "version " : ""}must not be empty`),
      ),
  );
  const unread = owners.flatMap((owner) => {
    const version = textAt(owner, "apiVersion") ?? "";
    if (version.split("/").length > 2)
      return [invalid(`${at}.apiVersion`, version, "version must not be empty")];
    const event = version === "v1" && textAt(owner, "kind") === "Event";
    return event ? [invalid(at, owner, "/v1, Kind=Event is disallowed from being an owner")] : [];
  });
  const controllers = owners.filter((owner) => objectAt(owner)["controller"] === true);
  if (controllers.length < 2) return [...missing, ...unread];
  const described = controllers
    .slice(0, 2)
    .map((owner) => `${textAt(owner, "kind") ?? ""}/${textAt(owner, "name") ?? ""}`);
  const why = `Only one reference can have Controller set to true. Found "true" in references for ${described.join(" and ")}`;
  return [...missing, ...unread, invalid(at, owners, why)];
}

const annotationLimit = 256 * 1024;
const size = (entries: readonly [string, Json][]): number =>
  entries.reduce((sum, [name, value]) => sum + name.length + (isString(value) ? value.length : 0), 0);

/** The properties of a kind that decide which names are valid. */
type NameRules = Pick<ResourceType, "nameRule" | "namespaced" | "custom">;

function nameErrors(type: NameRules, metadata: JsonObject): FieldError[] {
  const name = textAt(metadata, "name") ?? "";
  const base = textAt(metadata, "generateName") ?? "";
  // A prefix may end in a dash, and a name must not.
  const prefix = nameFaults(type.nameRule, base.length > 1 ? base.replace(/-$/, "a") : base);
  return [
    ...(base === "" ? [] : prefix.map((fault) => invalid("metadata.generateName", base, fault))),
    ...(name === "" ? [required("metadata.name", "name or generateName is required")] : []),
    ...(name === ""
      ? []
      : nameFaults(type.nameRule, name).map((fault) => invalid("metadata.name", name, fault))),
  ];
}

/** The errors of the key of a label, and of its value. */
export const labelKeyFaults = (key: string): string[] => qualifiedFaults(key);
export const labelValueFaults = (value: string): string[] => broken(value, rules.value);

/** The errors of the keys and values of labels at `path`. */
export const labelErrors = (labels: JsonObject, path: string): FieldError[] =>
  Object.entries(labels)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, value]) => [
      ...qualifiedFaults(name).map((fault) => invalid(path, name, fault)),
      ...(isString(value) ? broken(value, rules.value).map((fault) => invalid(path, value, fault)) : []),
    ]);

const standardFinalizers = ["kubernetes", orphaning, inForeground];
const loose = "name is neither a standard finalizer name nor is it fully qualified";

const isLoose = (finalizer: string): boolean =>
  !finalizer.includes("/") && !standardFinalizers.includes(finalizer);

/** The errors of the name of a finalizer, for built-in kinds. */
export const finalizerFaults = (one: string): string[] => [
  ...qualifiedFaults(one),
  ...(isLoose(one) ? [loose] : []),
];

function finalizerErrors(type: NameRules, metadata: JsonObject): FieldError[] {
  const finalizers = textsAt(metadata, "finalizers");
  const at = "metadata.finalizers";
  const both = `finalizer ${orphaning} and ${inForeground} cannot be both set`;
  return [
    ...finalizers.flatMap((one) => qualifiedFaults(one).map((fault) => invalid(at, one, fault))),
    ...when(
      finalizers.includes(orphaning) && finalizers.includes(inForeground),
      invalid(at, finalizers, both),
    ),
    ...finalizers.flatMap((one, i) =>
      !type.custom && isLoose(one) ? [invalid(`${at}[${i}]`, one, loose)] : [],
    ),
  ];
}

/** The errors of the keys of annotations at `path`. */
export const annotationErrors = (annotations: JsonObject, path: string): FieldError[] =>
  Object.keys(annotations).flatMap((name) =>
    qualifiedFaults(name.toLowerCase()).map((fault) => invalid(path, name, fault)),
  );

/** The errors of the metadata that an update may change. */
export const changeableErrors = (metadata: JsonObject): FieldError[] => [
  ...labelErrors(objectAt(metadata, "labels"), "metadata.labels"),
  ...annotationErrors(objectAt(metadata, "annotations"), "metadata.annotations"),
  ...ownerErrors(listAt(metadata, "ownerReferences")),
];

/** The errors of the metadata of an object of any kind. */
export function metadataErrors(type: NameRules, metadata: JsonObject): FieldError[] {
  const annotations = Object.entries(objectAt(metadata, "annotations"));
  return [
    ...nameErrors(type, metadata),
    ...(type.namespaced && !textAt(metadata, "namespace") ? [required("metadata.namespace")] : []),
    ...(!type.namespaced && textAt(metadata, "namespace")
      ? [forbidden("metadata.namespace", "not allowed on this type")]
      : []),
    ...labelErrors(objectAt(metadata, "labels"), "metadata.labels"),
    ...annotationErrors(objectAt(metadata, "annotations"), "metadata.annotations"),
    ...(size(annotations) > annotationLimit ? [tooLong("metadata.annotations", annotationLimit)] : []),
    ...ownerErrors(listAt(metadata, "ownerReferences")),
    ...finalizerErrors(type, metadata),
  ];
}
