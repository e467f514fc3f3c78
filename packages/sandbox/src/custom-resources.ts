// CustomResourceDefinitions: what makes one valid, and the types it serves.
import { forbidden, invalid, notSupported, required, when } from "./field-errors.ts";
import type { FieldError } from "./field-errors.ts";
import { equal, field, isObject, listAt, objectAt, textAt, textsAt } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";
import { finalizersOf, nameOf, withMeta, withTop } from "./kube-object.ts";
import type { KubeObject } from "./kube-object.ts";
import { nameFaults } from "./names.ts";
import { plainType } from "./resource-type.ts";
import type { Behaviour, Column, ResourceType, ScalePaths } from "./resource-type.ts";
import { scaledBehaviour } from "./scale.ts";
import { always, anyObject, boolean, each, fields, integer, knowing, listBy } from "./schema-words.ts";
import { listOf, or, string, strings } from "./schema-words.ts";
import { structuralErrors } from "./structural-schema.ts";

/** Holds a deleted definition until its objects are gone. */
export const cleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

const names = always(
  fields({
    ...strings("singular listKind"),
    ...each("plural kind", or(string, "")),
    shortNames: listOf(string),
    categories: listOf(string),
  }),
);
/** The schema of definitions themselves, but for the schemas in them. */
export const definitionSchema = fields({
  spec: always(
    fields({
      ...strings("group scope"),
      names,
      preserveUnknownFields: boolean,
      conversion: fields({ strategy: string, webhook: anyObject }),
      versions: listOf(
        fields({
          ...strings("name deprecationWarning"),
          served: boolean,
          storage: boolean,
          deprecated: boolean,
          schema: fields({ openAPIV3Schema: anyObject }),
          subresources: fields({
            status: fields({}),
            scale: fields(strings("specReplicasPath statusReplicasPath labelSelectorPath")),
          }),
          additionalPrinterColumns: listOf(
            fields({ ...strings("name type format description jsonPath"), priority: integer }),
          ),
          selectableFields: listOf(fields({ jsonPath: string })),
        }),
      ),
    }),
  ),
  status: always(knowing({ conditions: or(listBy("type", anyObject), null), acceptedNames: names })),
});

export const conditionOf = (object: KubeObject, type: string): string | undefined =>
  textAt(
    listAt(object, "status", "conditions").find((one) => textAt(one, "type") === type),
    "status",
  );

/** The object with one status condition set; the time of its transition stays while its status does. */
export function withCondition(
  object: KubeObject,
  condition: Readonly<Record<"type" | "status" | "reason" | "message", string>>,
  now: string,
): KubeObject {
  const old = listAt(object, "status", "conditions");
  const found = old.find((one) => textAt(one, "type") === condition.type);
  const since =
    textAt(found, "status") === condition.status ? textAt(found, "lastTransitionTime") : undefined;
  const next: JsonObject = { ...condition, lastTransitionTime: since ?? now };
  const conditions = found ? old.map((one) => (one === found ? next : one)) : [...old, next];
  return withTop(object, "status", { ...objectAt(object, "status"), conditions });
}

const isStored = (version: Json): boolean => field(version, "storage") === true;

function completed(definition: KubeObject, old: KubeObject | undefined): KubeObject {
  const spec = objectAt(definition, "spec");
  const kind = textAt(spec, "names", "kind");
  const implied = kind === undefined ? {} : { singular: kind.toLowerCase(), listKind: `${kind}List` };
  const stored = listAt(spec, "versions")
    .filter(isStored)
    .map((version) => textAt(version, "name") ?? "");
  const known = textsAt(old, "status", "storedVersions");
  const status = {
    conditions: null,
    acceptedNames: { plural: "", kind: "" },
    ...objectAt(definition, "status"),
    storedVersions: [...new Set([...known, ...stored])],
  };
  const complete = {
    conversion: { strategy: "None" },
    ...spec,
    names: { ...implied, ...objectAt(spec, "names") },
  };
  return withTop(withTop(definition, "spec", complete), "status", status);
}

const columnTypes = ["boolean", "date", "integer", "number", "string"];

/** In a definition of one version the server speaks of its schema and columns as if they stood beside the versions. */
function versionErrors(version: Json, path: string, only: boolean): FieldError[] {
  const name = textAt(version, "name") ?? "";
  const schema = field(version, "schema", "openAPIV3Schema");
  const schemaAt = only ? "spec.validation.openAPIV3Schema" : `${path}.schema.openAPIV3Schema`;
  const columnsAt = `${only ? "spec" : path}.additionalPrinterColumns`;
  return [
    ...nameFaults("version", name).map((fault) => invalid(`${path}.name`, name, fault)),
    ...(isObject(schema) ? structuralErrors(schema, schemaAt) : [required(`${path}.schema.openAPIV3Schema`)]),
    ...listAt(version, "additionalPrinterColumns").flatMap((column, i) =>
      columnErrors(column, `${columnsAt}[${i}]`),
    ),
  ];
}

function columnErrors(column: Json, path: string): FieldError[] {
  const text = (key: string): string => textAt(column, key) ?? "";
  const [type, jsonPath] = [text("type"), text("jsonPath")];
  const kinds = `must be one of ${columnTypes.join(",")}`;
  return [
    ...when(text("name") === "", required(`${path}.name`)),
    ...when(type === "", required(`${path}.type`, kinds)),
    ...when(type !== "" && !columnTypes.includes(type), invalid(`${path}.type`, type, kinds)),
    ...when(jsonPath === "", required(`${path}.JSONPath`)),
    ...when(
      !/^(\.|$)/.test(jsonPath),
      invalid(`${path}.JSONPath`, jsonPath, "must be a simple json path starting with ."),
    ),
  ];
}

const pruning =
  "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";

function specErrors(spec: JsonObject): FieldError[] {
  const [group, scope] = [textAt(spec, "group") ?? "", textAt(spec, "scope") ?? ""];
  const versions = listAt(spec, "versions");
  const unnamed = ["plural", "singular", "kind", "listKind"].filter((key) => !textAt(spec, "names", key));
  const scopes = ["Cluster", "Namespaced"];
  return [
    ...unnamed.map((key) => required(`spec.names.${key}`)),
    ...when(group === "", required("spec.group")),
    ...when(
      group !== "" && !group.includes("."),
      invalid("spec.group", group, "should be a domain with at least one dot"),
    ),
    ...when(scope === "", required("spec.scope")),
    ...when(scope !== "" && !scopes.includes(scope), notSupported("spec.scope", scope, scopes)),
    ...when(
      versions.filter(isStored).length !== 1,
      invalid("spec.versions", versions, "must have exactly one version marked as storage version"),
    ),
    ...when(
      field(spec, "preserveUnknownFields") === true,
      invalid("spec.preserveUnknownFields", true, pruning),
    ),
    ...when(
      textAt(spec, "conversion", "strategy") !== "None",
      forbidden("spec.conversion.strategy", "the sandbox converts between versions with None only"),
    ),
  ];
}

const fixedOnceServed = [["group"], ["scope"], ["names", "plural"], ["names", "kind"]];

function errors(definition: KubeObject, old: KubeObject | undefined): FieldError[] {
  const spec = objectAt(definition, "spec");
  const versions = listAt(spec, "versions");
  const name = [textAt(spec, "names", "plural"), textAt(spec, "group")].join(".");
  const fixed = old && conditionOf(old, "Established") === "True" ? fixedOnceServed : [];
  const changed = fixed.filter((path) => !equal(field(spec, ...path), field(old, "spec", ...path)));
  return [
    ...when(
      nameOf(definition) !== name,
      invalid("metadata.name", nameOf(definition), `must be spec.names.plural+"."+spec.group`),
    ),
    ...specErrors(spec),
    ...versions.flatMap((version, i) => versionErrors(version, `spec.versions[${i}]`, versions.length === 1)),
    ...changed.map((path) => invalid(`spec.${path.join(".")}`, field(spec, ...path), "field is immutable")),
  ];
}

/** How definitions differ from objects that are only stored. */
export const definitionBehaviour: Behaviour = {
  completed,
  errors,
  terminating: (definition, now) => {
    const held = withMeta(definition, "finalizers", [...finalizersOf(definition), cleanupFinalizer]);
    const message = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon";
    return withCondition(
      held,
      { type: "Terminating", status: "True", reason: "InstanceDeletionPending", message },
      now,
    );
  },
};

const column = (json: Json): Column => ({
  name: textAt(json, "name") ?? "",
  type: textAt(json, "type") ?? "string",
  jsonPath: textAt(json, "jsonPath") ?? "",
  format: textAt(json, "format"),
  description: textAt(json, "description"),
  priority: Number(field(json, "priority") ?? 0),
});

function scaleIn(version: Json): ScalePaths | undefined {
  const scale = field(version, "subresources", "scale");
  const path = (key: string): string => textAt(scale, key) ?? "";
  return scale === undefined
    ? undefined
    : {
        specReplicasPath: path("specReplicasPath"),
        statusReplicasPath: path("statusReplicasPath"),
        labelSelectorPath: path("labelSelectorPath"),
      };
}

/** One type for each version that a definition serves. */
export function typesOf(definition: KubeObject): ResourceType[] {
  const spec = objectAt(definition, "spec");
  const name = (key: string): string => textAt(spec, "names", key) ?? "";
  const common = {
    ...plainType,
    group: textAt(spec, "group") ?? "",
    ...{
      resource: name("plural"),
      kind: name("kind"),
      singular: name("singular"),
      listKind: name("listKind"),
    },
    namespaced: textAt(spec, "scope") === "Namespaced",
    shortNames: textsAt(spec, "names", "shortNames"),
    categories: textsAt(spec, "names", "categories"),
    bucket: nameOf(definition),
    ...{ custom: true, generation: true },
  };
  const schemaOf = (version: Json | undefined): JsonObject => objectAt(version, "schema", "openAPIV3Schema");
  const stored = listAt(spec, "versions").find(isStored);
  const served = listAt(spec, "versions").filter((version) => field(version, "served") === true);
  return served.map((version) => {
    const columns = listAt(version, "additionalPrinterColumns").map(column);
    return {
      ...common,
      version: textAt(version, "name") ?? "",
      schema: schemaOf(version),
      ...(stored !== version && {
        storedSchema: schemaOf(stored),
        storedVersion: textAt(stored, "name") ?? "",
      }),
      status: field(version, "subresources", "status") !== undefined,
      scale: scaleIn(version),
      behaviour: scaledBehaviour(scaleIn(version)),
      columns: columns.length > 0 ? columns : common.columns,
      selectable: listAt(version, "selectableFields").map((one) => (textAt(one, "jsonPath") ?? "").slice(1)),
    };
  });
}
