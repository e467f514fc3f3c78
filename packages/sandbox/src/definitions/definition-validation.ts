// The errors of a CustomResourceDefinition (apiextensions-apiserver, pkg/apis/apiextensions/validation).
import { forbidden, invalid, notSupported, required, when } from "../admission/field-errors.ts";
import type { FieldError } from "../admission/field-errors.ts";
import { equal, field, isObject, listAt, objectAt, textAt, textsAt } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import { nameOf } from "../kube-object.ts";
import type { KubeObject } from "../kube-object.ts";
import { nameFaults } from "../admission/names.ts";
import { schemaErrors } from "../schema/structural-schema.ts";

const text = (value: Json | undefined, key: string): string => textAt(value, key) ?? "";
const labelled = (value: string, path: string): FieldError[] =>
  nameFaults("version", value).map((fault) => invalid(path, value, fault));
const oneOf = (value: string, known: readonly string[], path: string): FieldError[] =>
  value === "" ? [required(path)] : when(!known.includes(value), notSupported(path, value, known));

function nameErrors(names: JsonObject, path: string): FieldError[] {
  const [kind, listKind] = [text(names, "kind"), text(names, "listKind")];
  return [
    ...["plural", "singular"]
      .filter((key) => text(names, key) !== "")
      .flatMap((key) => labelled(text(names, key), `${path}.${key}`)),
    ...["kind", "listKind"]
      .filter((key) => text(names, key) !== "")
      .flatMap((key) =>
        nameFaults("version", text(names, key).toLowerCase()).map((fault) => {
          const why = `may have mixed case, but should otherwise match: ${fault}`;
          return invalid(`${path}.${key}`, text(names, key), why);
        }),
      ),
    ...["shortNames", "categories"].flatMap((key) =>
      textsAt(names, key).flatMap((one, i) => labelled(one, `${path}.${key}[${i}]`)),
    ),
    ...when(
      kind !== "" && kind === listKind,
      invalid(`${path}.listKind`, listKind, "kind and listKind may not be the same"),
    ),
  ];
}

/** An error of a part that is the same in all versions is reported once, with a path outside of the versions. */
function versionsErrors(versions: readonly Json[]): FieldError[] {
  const alike = (key: string): boolean =>
    versions.every((one) => equal(field(one, key), field(versions[0], key)));
  const placed = (key: string, check: (version: Json, path: string) => FieldError[]): FieldError[] =>
    alike(key)
      ? versions.slice(0, 1).flatMap((one) => check(one, "spec"))
      : versions.flatMap((one, i) => check(one, `spec.versions[${i}]`));
  const withStatus = (version: Json): boolean => field(version, "subresources", "status") !== undefined;
  const isAlike = alike("schema");
  return [
    ...versions.flatMap((version, i) => [
      ...labelled(text(version, "name"), `spec.versions[${i}].name`),
      ...warningErrors(version, `spec.versions[${i}].deprecationWarning`),
      ...when(
        !isObject(field(version, "schema", "openAPIV3Schema")),
        required(`spec.versions[${i}].schema.openAPIV3Schema`),
      ),
    ]),
    ...placed("schema", (version, path) => {
      const schema = field(version, "schema", "openAPIV3Schema");
      const at = `${path}.${isAlike ? "validation" : "schema"}.openAPIV3Schema`;
      const beside = isAlike ? versions.some(withStatus) : withStatus(version);
      return isObject(schema) ? schemaErrors(schema, at, beside) : [];
    }),
    ...placed("subresources", (version, path) =>
      scaleErrors(field(version, "subresources", "scale"), `${path}.subresources.scale`),
    ),
    ...placed("additionalPrinterColumns", (version, path) =>
      listAt(version, "additionalPrinterColumns").flatMap((column, i) =>
        columnErrors(column, `${path}.additionalPrinterColumns[${i}]`),
      ),
    ),
  ];
}

function warningErrors(version: Json, path: string): FieldError[] {
  const warning = textAt(version, "deprecationWarning");
  if (warning === undefined) return [];
  const deprecated = field(version, "deprecated") === true;
  if (!deprecated) return [invalid(path, warning, "can only be set for deprecated versions")];
  return [
    ...when(warning.length > 256, invalid(path, warning, "must be <= 256 characters long")),
    ...when(warning === "", invalid(path, warning, "must not be an empty string")),
  ];
}

const simple = "must be a simple json path starting with .";

function scaleErrors(scale: Json | undefined, path: string): FieldError[] {
  const check = (key: string, under: readonly string[], where: string): FieldError[] => {
    const given = text(scale, key);
    const at = `${path}.${key}`;
    if (given === "") return key === "labelSelectorPath" ? [] : [required(at)];
    if (!given.startsWith(".")) return [invalid(at, given, simple)];
    const inside = under.some((one) => given.startsWith(`.${one}.`));
    return when(!inside, invalid(at, given, `should be a json path under ${where}`));
  };
  return scale === undefined
    ? []
    : [
        ...check("specReplicasPath", ["spec"], ".spec"),
        ...check("statusReplicasPath", ["status"], ".status"),
        ...check("labelSelectorPath", ["spec", "status"], "either .spec or .status"),
      ];
}

const columnTypes = ["boolean", "date", "integer", "number", "string"];
const columnFormats = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];

function columnErrors(column: Json, path: string): FieldError[] {
  const [type, format, jsonPath] = [text(column, "type"), text(column, "format"), text(column, "jsonPath")];
  const kinds = `must be one of ${columnTypes.join(",")}`;
  const formats = `must be one of ${columnFormats.join(",")}`;
  return [
    ...when(text(column, "name") === "", required(`${path}.name`)),
    ...when(type === "", required(`${path}.type`, kinds)),
    ...when(type !== "" && !columnTypes.includes(type), invalid(`${path}.type`, type, kinds)),
    ...when(format !== "" && !columnFormats.includes(format), invalid(`${path}.format`, format, formats)),
    ...when(jsonPath === "", required(`${path}.JSONPath`)),
    ...when(!/^(\.|$)/.test(jsonPath), invalid(`${path}.JSONPath`, jsonPath, simple)),
  ];
}

const pruning =
  "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";

/** Versions as the server prints them: with the names of Go, and only the fields by which versions differ. */
const shown = (versions: readonly Json[]): Json =>
  versions.map((one) => ({ Name: text(one, "name"), Served: field(one, "served") === true }));

function groupErrors(definition: KubeObject): FieldError[] {
  const group = textAt(definition, "spec", "group") ?? "";
  if (group === "") return [required("spec.group")];
  const faults = nameFaults("subdomain", group);
  if (faults.length > 0) return [invalid("spec.group", group, faults.join(","))];
  return when(!group.includes("."), invalid("spec.group", group, "should be a domain with at least one dot"));
}

function specErrors(spec: JsonObject): FieldError[] {
  const versions = listAt(spec, "versions");
  const named = versions.map((one) => text(one, "name"));
  const stored = versions.filter((one) => field(one, "storage") === true);
  const names = objectAt(spec, "names");
  const strategy = textAt(spec, "conversion", "strategy") ?? "";
  return [
    ...["plural", "singular", "kind", "listKind"]
      .filter((key) => text(names, key) === "")
      .map((key) => required(`spec.names.${key}`)),
    ...nameErrors(names, "spec.names"),
    ...oneOf(text(spec, "scope"), ["Cluster", "Namespaced"], "spec.scope"),
    ...versionsErrors(versions),
    // The server reports the first version a second time as `spec.version`, from when there was only one.
    ...named.slice(0, 1).flatMap((one) => labelled(one, "spec.version")),
    ...when(
      new Set(named).size < named.length,
      invalid("spec.versions", shown(versions), "must contain unique version names"),
    ),
    ...when(
      stored.length !== 1,
      invalid("spec.versions", shown(versions), "must have exactly one version marked as storage version"),
    ),
    ...when(
      field(spec, "preserveUnknownFields") === true,
      invalid("spec.preserveUnknownFields", true, pruning),
    ),
    ...oneOf(strategy, ["None", "Webhook"], "spec.conversion.strategy"),
    ...when(
      strategy === "Webhook",
      forbidden("spec.conversion.strategy", "the sandbox converts between versions with None only"),
    ),
  ];
}

/** A version in which objects may be stored must stay. */
function storedErrors(definition: KubeObject): FieldError[] {
  const stored = textsAt(definition, "status", "storedVersions");
  const at = "status.storedVersions";
  if (stored.length === 0) return [invalid(at, null, "must have at least one stored version")];
  const versions = listAt(definition, "spec", "versions");
  const unsaid = versions.filter(
    (one) => field(one, "storage") === true && !stored.includes(text(one, "name")),
  );
  const gone = stored.flatMap((one, i) =>
    versions.some((other) => text(other, "name") === one) ? [] : [[one, i] as const],
  );
  return [
    ...unsaid.map((one) => invalid(at, stored, `must have the storage version ${text(one, "name")}`)),
    ...gone.map(([one, i]) => {
      const why = `missing from spec.versions; ${one} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${one} and removes ${one} from status.storedVersions`;
      return invalid(`${at}[${i}]`, one, why);
    }),
  ];
}

const fixed = [["group"], ["names", "plural"]];
const fixedOnceServed = [["scope"], ["names", "kind"]];

/** All errors of a definition that is to be created, or updated from `old`. */
export function definitionErrors(
  definition: KubeObject,
  old: KubeObject | undefined,
  subresource = "",
): FieldError[] {
  const spec = objectAt(definition, "spec");
  const name = [textAt(spec, "names", "plural"), textAt(spec, "group")].join(".");
  const accepted = nameErrors(objectAt(definition, "status", "acceptedNames"), "status.acceptedNames");
  if (subresource === "status") return accepted;
  const conditions = listAt(old, "status", "conditions");
  const isServed = conditions.some(
    (one) => text(one, "type") === "Established" && text(one, "status") === "True",
  );
  const changed = (old ? [...fixed, ...(isServed ? fixedOnceServed : [])] : []).filter(
    (path) => !equal(field(spec, ...path), field(old, "spec", ...path)),
  );
  return [
    ...when(
      !old && nameOf(definition) !== name,
      invalid("metadata.name", nameOf(definition), `must be spec.names.plural+"."+spec.group`),
    ),
    ...groupErrors(definition),
    ...specErrors(spec),
    ...accepted,
    ...storedErrors(definition),
    ...changed.map((path) => invalid(`spec.${path.join(".")}`, field(spec, ...path), "field is immutable")),
  ];
}
