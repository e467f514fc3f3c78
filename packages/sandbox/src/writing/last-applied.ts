// The move of kubectl from apply on the client to apply on the server: an apply by the manager `kubectl` takes the
// fields that kubectl has applied on the client, and keeps its annotation current (apimachinery, managedfields/internal,
// lastappliedmanager.go and lastappliedupdater.go).
import { compareFields } from "../fields/compare-fields.ts";
import type { FieldSet } from "../fields/field-set.ts";
import { fieldTypeOf } from "../fields/field-type.ts";
import { fieldsOf } from "../fields/owned-fields.ts";
import { typeErrors } from "../fields/type-errors.ts";
import { htmlSafe } from "../http/go-text.ts";
import { isObject, objectAt, omit, parseJson, sortedJson, textAt, withField } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import { withMeta } from "../kube-object.ts";
import type { KubeObject } from "../kube-object.ts";
import { apiVersionOf } from "../kinds/resource-type.ts";
import type { ResourceType } from "../kinds/resource-type.ts";

const annotation = "kubectl.kubernetes.io/last-applied-configuration";
const lastAppliedTo = (object: JsonObject | undefined): string =>
  textAt(object, "metadata", "annotations", annotation) ?? "";

function parsed(text: string): Json {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** The fields that the manager may take from others: those of the annotation that nothing has changed since. */
export function fieldsToTake(type: ResourceType, manager: string, live: KubeObject | undefined): FieldSet {
  const last = manager === "kubectl" && live ? parsed(lastAppliedTo(live)) : null;
  const isUsable =
    isObject(last) &&
    textAt(last, "apiVersion") === apiVersionOf(type) &&
    typeErrors(type, last).length === 0;
  if (!isUsable || !live) return new Set();
  const fields = fieldTypeOf(type);
  const { added, changed, removed } = compareFields(last, live, fields);
  return fieldsOf(last, fields).difference(added).difference(changed).difference(removed);
}

/** The object with the configuration in its annotation, if it has one. */
export function withLastApplied(manager: string, object: KubeObject, config: JsonObject): KubeObject {
  if (manager !== "kubectl" || lastAppliedTo(object) === "") return object;
  const metadata = objectAt(config, "metadata");
  const given = objectAt(metadata, "annotations");
  const others = Object.keys(given).length > 0 ? omit(given, annotation) : undefined;
  const text = htmlSafe(sortedJson({ ...config, metadata: withField(metadata, "annotations", others) }));
  return withMeta(object, "annotations", {
    ...objectAt(object, "metadata", "annotations"),
    [annotation]: `${text}\n`,
  });
}
