// CustomResourceDefinitions: what makes one valid, and the types it serves.
import { forbidden, invalid, required } from "./field-errors.ts";
import type { FieldError } from "./field-errors.ts";
import { equal, field, isObject, isString, listAt, objectAt, textAt, textsAt, withField } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";
import { finalizersOf, nameOf, withMeta, withTop } from "./kube-object.ts";
import type { KubeObject } from "./kube-object.ts";
import { nameFaults } from "./names.ts";
import type { Behaviour, Column, ResourceType } from "./resource-type.ts";
import { structuralErrors } from "./structural-schema.ts";

/** Holds a deleted definition until its objects are gone. */
export const cleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

export const conditionOf = (object: KubeObject, type: string): string | undefined =>
  textAt(
    listAt(object, "status", "conditions").find((one) => textAt(one, "type") === type),
    "status",
  );

/** The object with one status condition set; the time of transition stays while its status does. */
export function withCondition(
  object: KubeObject,
  condition: Readonly<Record<"type" | "status" | "reason" | "message", string>>,
  now: string,
): KubeObject {
  const old = listAt(object, "status", "conditions");
  const found = old.find((one) => textAt(one, "type") === condition.type);
  const since =
    found && textAt(found, "status") === condition.status ? textAt(found, "lastTransitionTime") : undefined;
  const next: JsonObject = { ...condition, lastTransitionTime: since ?? now };
  const conditions = found ? old.map((one) => (one === found ? next : one)) : [...old, next];
  return withTop(object, "status", { ...objectAt(object, "status"), conditions });
}

function completed(definition: KubeObject, old: KubeObject | undefined): KubeObject {
  const spec = objectAt(definition, "spec");
  const names = objectAt(spec, "names");
  const kind = textAt(names, "kind") ?? "";
  const full = {
    ...names,
    singular: textAt(names, "singular") ?? kind.toLowerCase(),
    listKind: textAt(names, "listKind") ?? `${kind}List`,
  };
  const conversion = spec["conversion"] ?? { strategy: "None" };
  const complete = withTop(
    definition,
    "spec",
    withField(
      { ...spec, names: full, conversion },
      "preserveUnknownFields",
      spec["preserveUnknownFields"] === true ? true : undefined,
    ),
  );
  const stored = listAt(spec, "versions")
    .filter((one) => field(one, "storage") === true)
    .map((one) => textAt(one, "name") ?? "");
  const known = old ? textsAt(old, "status", "storedVersions") : [];
  const status = {
    conditions: listAt(old, "status", "conditions"),
    acceptedNames: old ? objectAt(old, "status", "acceptedNames") : { plural: "", kind: "" },
    ...objectAt(definition, "status"),
    storedVersions: [...new Set([...known, ...stored])],
  };
  return withTop(complete, "status", status);
}

function versionErrors(version: Json, path: string): FieldError[] {
  const name = textAt(version, "name") ?? "";
  const schema = field(version, "schema", "openAPIV3Schema");
  const at = `${path}.schema.openAPIV3Schema`;
  return [
    ...nameFaults("service", name).map((fault) => invalid(`${path}.name`, name, fault)),
    ...(isObject(schema) ? structuralErrors(schema, at) : [required(at, "schemas are required")]),
    ...listAt(version, "additionalPrinterColumns").flatMap((column, i) =>
      ["name", "type", "jsonPath"]
        .filter((key) => !textAt(column, key))
        .map((key) => required(`${path}.additionalPrinterColumns[${i}].${key}`)),
    ),
    ...(textAt(version, "subresources", "scale", "specReplicasPath") === undefined &&
    field(version, "subresources", "scale") !== undefined
      ? [required(`${path}.subresources.scale.specReplicasPath`)]
      : []),
  ];
}

function errors(definition: KubeObject, old: KubeObject | undefined): FieldError[] {
  const spec = objectAt(definition, "spec");
  const versions = listAt(spec, "versions");
  const group = textAt(spec, "group") ?? "";
  const names = objectAt(spec, "names");
  const found: FieldError[] = [];
  if (nameOf(definition) !== `${textAt(names, "plural") ?? ""}.${group}`)
    found.push(invalid("metadata.name", nameOf(definition), `must be spec.names.plural+"."+spec.group`));
  if (group === "") found.push(required("spec.group"));
  else if (!group.includes("."))
    found.push(invalid("spec.group", group, "should be a domain with at least one dot"));
  for (const key of ["plural", "kind"]) if (!textAt(names, key)) found.push(required(`spec.names.${key}`));
  const scope = textAt(spec, "scope") ?? "";
  if (scope === "") found.push(required("spec.scope"));
  else if (scope !== "Namespaced" && scope !== "Cluster")
    found.push({
      reason: "FieldValueNotSupported",
      field: "spec.scope",
      body: `Unsupported value: ${JSON.stringify(scope)}: supported values: "Cluster", "Namespaced"`,
    });
  if (versions.filter((one) => field(one, "storage") === true).length !== 1)
    found.push(invalid("spec.versions", versions, "must have exactly one version marked as storage version"));
  if (field(spec, "preserveUnknownFields") === true)
    found.push(
      invalid(
        "spec.preserveUnknownFields",
        true,
        "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
      ),
    );
  if (textAt(spec, "conversion", "strategy") !== "None")
    found.push(
      forbidden(
        "spec.conversion.strategy",
        "the sandbox converts between versions with the strategy None only",
      ),
    );
  const immutable =
    old && conditionOf(old, "Established") === "True" ? ["group", "scope", "names.plural", "names.kind"] : [];
  for (const path of immutable) {
    const [was, is] = [old, definition].map((one) => field(one, "spec", ...path.split(".")));
    if (!equal(was, is)) found.push(invalid(`spec.${path}`, is ?? null, "field is immutable"));
  }
  return [...found, ...versions.flatMap((version, i) => versionErrors(version, `spec.versions[${i}]`))];
}

/** How definitions differ from objects that are only stored. */
export const definitionBehaviour: Behaviour = {
  completed,
  errors,
  terminating: (definition, now) =>
    withCondition(
      withMeta(definition, "finalizers", [...finalizersOf(definition), cleanupFinalizer]),
      {
        type: "Terminating",
        status: "True",
        reason: "InstanceDeletionPending",
        message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
      },
      now,
    ),
};

const column = (json: Json): Column => {
  const priority = field(json, "priority");
  return {
    name: textAt(json, "name") ?? "",
    type: textAt(json, "type") ?? "string",
    jsonPath: textAt(json, "jsonPath") ?? "",
    format: textAt(json, "format") ?? "",
    description: textAt(json, "description") ?? "",
    priority: typeof priority === "number" ? priority : 0,
  };
};
const age: Column = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };

/** One type for each version that a definition serves. */
export function typesOf(definition: KubeObject): ResourceType[] {
  const spec = objectAt(definition, "spec");
  const names = objectAt(spec, "names");
  const group = textAt(spec, "group") ?? "";
  const resource = textAt(names, "plural") ?? "";
  const kind = textAt(names, "kind") ?? "";
  return listAt(spec, "versions")
    .filter((version) => field(version, "served") === true)
    .map((version) => {
      const columns = listAt(version, "additionalPrinterColumns").map(column);
      return {
        group,
        resource,
        kind,
        version: textAt(version, "name") ?? "",
        singular: textAt(names, "singular") ?? kind.toLowerCase(),
        listKind: textAt(names, "listKind") ?? `${kind}List`,
        namespaced: textAt(spec, "scope") === "Namespaced",
        shortNames: textsAt(names, "shortNames"),
        categories: textsAt(names, "categories"),
        bucket: `${resource}.${group}`,
        custom: true,
        schema: objectAt(version, "schema", "openAPIV3Schema"),
        status: field(version, "subresources", "status") !== undefined,
        generation: true,
        unconditionalUpdate: false,
        createOnUpdate: false,
        returnsDeleted: false,
        nameRule: "subdomain",
        columns: columns.length > 0 ? columns : [age],
        selectable: listAt(version, "selectableFields")
          .map((one) => textAt(one, "jsonPath"))
          .filter(isString)
          .map((path) => path.slice(1)),
        renames: [],
        behaviour: {},
      };
    });
}
