// CustomResourceDefinitions: their schema and defaults, and the types that they serve.
import { keptSchema } from "../schema/definition-schema.ts";
import { definitionErrors } from "./definition-validation.ts";
import { field, listAt, objectAt, textAt, textsAt } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import { finalizersOf, nameOf, withMeta, withTop } from "../kube-object.ts";
import type { KubeObject } from "../kube-object.ts";
import { parts } from "../schema/openapi-schema.ts";
import { ageColumn, plainType, rankOf } from "../kinds/resource-type.ts";
import type { Behaviour, Column, ResourceType } from "../kinds/resource-type.ts";
import {
  alwaysPresent,
  anyObject,
  boolean,
  each,
  fields,
  integer,
  openObject,
} from "../schema/schema-builders.ts";
import { listOf, omitEmpty, withDefault, string, strings } from "../schema/schema-builders.ts";
import { isKnownFormat } from "../schema/string-formats.ts";

/** Holds a deleted definition until its objects are gone. */
export const cleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

const names = alwaysPresent(
  fields({
    ...strings("singular listKind"),
    ...each("plural kind", withDefault(string, "")),
    shortNames: listOf(string),
    categories: listOf(string),
  }),
);
/** The schema of a definition, without the schemas in it. */
export const definitionSchema = fields({
  spec: alwaysPresent(
    fields({
      ...strings("group scope"),
      names,
      preserveUnknownFields: omitEmpty(boolean),
      conversion: fields({ strategy: string, webhook: anyObject }),
      versions: listOf(
        fields({
          ...strings("name deprecationWarning"),
          served: boolean,
          storage: boolean,
          deprecated: omitEmpty(boolean),
          schema: fields({ openAPIV3Schema: anyObject }),
          subresources: fields({
            status: fields({}),
            scale: fields(strings("specReplicasPath statusReplicasPath labelSelectorPath")),
          }),
          additionalPrinterColumns: listOf(
            fields({
              ...strings("name type jsonPath"),
              ...each("format description", omitEmpty(string)),
              priority: omitEmpty(integer),
            }),
          ),
          selectableFields: listOf(fields({ jsonPath: string })),
        }),
      ),
    }),
  ),
  status: alwaysPresent(
    openObject({ conditions: withDefault(listOf(anyObject), null), acceptedNames: names }),
  ),
});

export const conditionOf = (object: KubeObject, type: string): string | undefined =>
  textAt(
    listAt(object, "status", "conditions").find((one) => textAt(one, "type") === type),
    "status",
  );

/** The object with one status condition set. The time of its transition changes only with its status. */
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

function completed(definition: KubeObject): KubeObject {
  const spec = objectAt(definition, "spec");
  const kind = textAt(spec, "names", "kind");
  const implied = kind ? { singular: kind.toLowerCase(), listKind: `${kind}List` } : {};
  const stored = listAt(spec, "versions")
    .filter(isStored)
    .slice(0, 1)
    .map((version) => textAt(version, "name") ?? "");
  const known = textsAt(definition, "status", "storedVersions");
  const status = {
    conditions: null,
    acceptedNames: { plural: "", kind: "" },
    ...objectAt(definition, "status"),
    storedVersions: [...new Set([...known, ...stored])],
  };
  const versions = listAt(spec, "versions").map((version): Json => {
    const schema = field(version, "schema", "openAPIV3Schema");
    return schema === undefined
      ? version
      : { ...objectAt(version), schema: { openAPIV3Schema: keptSchema(schema) } };
  });
  const complete = {
    conversion: { strategy: "None" },
    ...spec,
    ...(spec["versions"] !== undefined && { versions }),
    names: { ...implied, ...objectAt(spec, "names") },
  };
  return withTop(withTop(definition, "spec", complete), "status", status);
}

/** The formats in a schema that no server knows; a format that occurs twice is listed twice. */
const strangeFormats = (schema: Json): string[] => {
  const format = textAt(schema, "format") ?? "";
  const isStrange = format !== "" && !isKnownFormat(textAt(schema, "type") ?? "", format);
  return [...(isStrange ? [format] : []), ...parts(schema, "").flatMap(([, part]) => strangeFormats(part))];
};
const formatsIn = (definition: KubeObject | undefined): string[] =>
  listAt(definition, "spec", "versions").flatMap((version) =>
    strangeFormats(field(version, "schema", "openAPIV3Schema") ?? {}),
  );

/** The behaviour of definitions. */
export const definitionBehaviour: Behaviour = {
  warnings: (definition, old) => {
    const known = new Set(formatsIn(old));
    const found = new Set(formatsIn(definition).filter((format) => !known.has(format)));
    return [...found].map((format) => `unrecognized format ${JSON.stringify(format)}`);
  },
  leavesMetadata: true,
  completed,
  errors: definitionErrors,
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

/** The description of the column of a definition that has no columns. */
const createdAt =
  "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";

const column = (json: Json): Column => ({
  name: textAt(json, "name") ?? "",
  type: textAt(json, "type") ?? "string",
  jsonPath: textAt(json, "jsonPath") ?? "",
  format: textAt(json, "format"),
  description: textAt(json, "description"),
  priority: Number(field(json, "priority") ?? 0),
});

const warningsIn = (
  version: Json,
  versions: readonly Json[],
  apiVersion: (name: string) => string,
): string[] => {
  if (field(version, "deprecated") !== true) return [];
  const own = rankOf(textAt(version, "name") ?? "");
  const [better] = versions
    .filter((one) => field(one, "served") === true && field(one, "deprecated") !== true)
    .map((one) => textAt(one, "name") ?? "")
    .filter((one) => rankOf(one) > own)
    .sort((a, b) => rankOf(b) - rankOf(a));
  const instead = better === undefined ? "" : `; use ${apiVersion(better)}`;
  const warning = textAt(version, "deprecationWarning");
  return [warning ?? `${apiVersion(textAt(version, "name") ?? "")} is deprecated${instead}`];
};

/** One type for each version that a definition serves. */
export function typesOf(definition: KubeObject): ResourceType[] {
  const spec = objectAt(definition, "spec");
  const names = objectAt(definition, "status", "acceptedNames");
  const name = (key: string): string => textAt(names, key) ?? "";
  const common = {
    ...plainType,
    group: textAt(spec, "group") ?? "",
    resource: name("plural"),
    kind: name("kind"),
    singular: name("singular"),
    listKind: name("listKind"),
    namespaced: textAt(spec, "scope") === "Namespaced",
    shortNames: textsAt(names, "shortNames"),
    categories: textsAt(names, "categories"),
    bucket: nameOf(definition),
    custom: true,
    generation: true,
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
      columns: columns.length > 0 ? columns : [{ ...ageColumn, description: createdAt }],
      warnings: warningsIn(
        version,
        listAt(spec, "versions"),
        (one) => `${common.group}/${one} ${common.kind}`,
      ),
      selectable: listAt(version, "selectableFields").map((one) => (textAt(one, "jsonPath") ?? "").slice(1)),
    };
  });
}
