// The decisions of the server about an object before it is stored: system metadata, generation, status, validity.
import { randomInt, randomUUID } from "node:crypto";
import { forbidden, invalid, when } from "./field-errors.ts";
import type { FieldError } from "./field-errors.ts";
import { equal, field, objectAt, omit, textAt, withField } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import { beingDeleted, finalizersOf, generationOf, nameOf, withMeta, withTop } from "../kube-object.ts";
import type { KubeObject } from "../kube-object.ts";
import { changeableErrors, metadataErrors } from "./names.ts";
import { fitted } from "../kinds/resource-type.ts";
import type { ResourceType } from "../kinds/resource-type.ts";
import { objectErrors, ruleErrors, statusErrors, validated } from "../schema/schema-validation.ts";
import { invalidObject } from "../http/status.ts";

/** Consonants and digits, so that a suffix is never a word. The name generator of apiserver draws from the same. */
const suffixLetters = "bcdfghjklmnpqrstvwxz2456789";
const generatedName = (base: string): string =>
  base.slice(0, 58) +
  Array.from({ length: 5 }, () => suffixLetters[randomInt(suffixLetters.length)]).join("");

/** RFC 3339 to the second, as in every timestamp of metadata. */
export const timestamp = (now: Date): string => `${now.toISOString().slice(0, 19)}Z`;

/** The errors of an object of a custom kind against its schema. */
function customErrors(
  { schema }: ResourceType,
  object: KubeObject,
  old: KubeObject | undefined,
  subresource: "" | "status",
): FieldError[] {
  if (old && subresource === "status") return statusErrors(object, schema, old);
  return objectErrors(object, schema, old);
}

type Warn = (text: string) => void;

function refuseInvalid(
  type: ResourceType,
  object: KubeObject,
  old: KubeObject | undefined,
  more: readonly FieldError[],
  warn: Warn,
  subresource: "" | "status" = "",
): void {
  const { metadata, ...content } = object;
  const errors = [
    ...more,
    ...(old && (type.custom || type.behaviour.leavesMetadata || subresource !== "")
      ? []
      : metadataErrors(type, metadata)),
    ...(type.behaviour.errors?.(object, old, subresource) ?? []),
    // Only custom kinds report repeated items of lists here: a built-in kind has code of its own for them.
    ...(type.custom ? customErrors(type, object, old, subresource) : validated(content, type.schema, "")),
  ];
  const all = type.custom ? [...errors, ...ruleErrors(object, type.schema, old, errors, warn)] : errors;
  if (all.length > 0)
    throw invalidObject(
      // Both versions of Events are one kind.
      type.bucket === "events" ? { group: "", kind: type.kind } : type,
      nameOf(object),
      all,
    );
}

const notForNew = [
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "selfLink",
  "resourceVersion",
  "managedFields",
];

/** The object with its defaults and the additions of the server. */
function settled({ behaviour }: ResourceType, object: KubeObject, old: KubeObject | undefined): KubeObject {
  const complete = behaviour.completed?.(object, old) ?? object;
  return behaviour.admitted?.(complete, old) ?? complete;
}

/** The object to store for a create. Throws 422 with all errors. */
export function admittedNew(type: ResourceType, object: KubeObject, now: Date, warn: Warn): KubeObject {
  const given = omit(object.metadata, ...notForNew);
  const base = textAt(given, "generateName");
  const metadata: Record<string, Json> = {
    ...given,
    name: nameOf(object) || (base === undefined ? "" : generatedName(base)),
    uid: randomUUID(),
    creationTimestamp: timestamp(now),
  };
  if (type.generation || type.custom) metadata["generation"] = 1;
  const fresh = { ...object, metadata };
  const withoutStatus = type.status ? withTop(fresh, "status", undefined) : fresh;
  const complete = type.custom ? withoutStatus : fitted(type, withoutStatus);
  const admitted = settled(type, complete, undefined);
  refuseInvalid(type, admitted, undefined, [], warn);
  return admitted;
}

const immutable = ["name", "namespace", "uid", "deletionTimestamp", "deletionGracePeriodSeconds"] as const;

function updateErrors({ metadata, ...object }: KubeObject, old: KubeObject): FieldError[] {
  const known = finalizersOf(old);
  const added = finalizersOf({ ...object, metadata })
    .filter((one) => !known.includes(one))
    .sort();
  const found = `[]string{${added.map((one) => JSON.stringify(one)).join(", ")}}`;
  const late = `no new finalizers can be added if the object is being deleted, found new finalizers ${found}`;
  return [
    ...immutable.flatMap((key) =>
      when(
        !equal(metadata[key], old.metadata[key]),
        invalid(`metadata.${key}`, metadata[key], "field is immutable"),
      ),
    ),
    ...when(beingDeleted(old) && added.length > 0, forbidden("metadata.finalizers", late)),
  ];
}

/** The metadata of an update; fields that an update must not change come from the old object. */
function keptMetadata(object: KubeObject, old: KubeObject): JsonObject {
  const { metadata } = old;
  let kept = omit(object.metadata, "selfLink", "managedFields");
  for (const key of ["resourceVersion", "creationTimestamp", "generation"])
    kept = withField(kept, key, metadata[key]);
  if (!textAt(kept, "uid")) kept = withField(kept, "uid", metadata["uid"]);
  if (!textAt(kept, "namespace")) kept = withField(kept, "namespace", metadata["namespace"]);
  if (beingDeleted(old)) kept = withField(kept, "deletionTimestamp", metadata["deletionTimestamp"]);
  if (field(kept, "deletionGracePeriodSeconds") === undefined)
    kept = withField(kept, "deletionGracePeriodSeconds", metadata["deletionGracePeriodSeconds"]);
  return kept;
}

/** A status update changes only the status. Built-in kinds also accept changes of labels and other metadata. */
function onlyStatus(type: ResourceType, { metadata, ...object }: KubeObject, old: KubeObject): KubeObject {
  return { ...withTop(old, "status", object["status"]), metadata: type.custom ? old.metadata : metadata };
}

/** The part of an object that its generation counts the changes of. */
const asked = ({ behaviour }: ResourceType, object: KubeObject): JsonObject => ({
  ...omit(object, "metadata", "apiVersion"),
  ...(behaviour.countsAnnotations && { metadata: objectAt(object, "metadata", "annotations") }),
});

/** The object to store for an update of `old`, through the main endpoint or `/status`. Throws 422 with all errors. */
export function admittedUpdate(
  type: ResourceType,
  object: KubeObject,
  old: KubeObject,
  subresource: "" | "status",
  warn: Warn,
): KubeObject {
  const kept = { ...object, metadata: keptMetadata(object, old) };
  const written =
    subresource === "status"
      ? onlyStatus(type, kept, old)
      : type.status
        ? withTop(kept, "status", old["status"])
        : kept;
  const complete = settled(type, written, old);
  const askedAnew =
    (type.generation || type.custom) && subresource === "" && !equal(asked(type, complete), asked(type, old));
  const admitted = askedAnew ? withMeta(complete, "generation", generationOf(old) + 1) : complete;
  // The generic code and the code of the kind both check metadata, so an error is reported more than once.
  const whole = metadataErrors({ ...type, custom: true }, admitted.metadata);
  const changed = [...updateErrors(admitted, old), ...changeableErrors(admitted.metadata)];
  refuseInvalid(type, admitted, old, [...whole, ...changed, ...changed], warn, subresource);
  return admitted;
}

const inSeconds = (from: Date, seconds: number): string =>
  timestamp(new Date(from.getTime() + seconds * 1000));
/** The grace period of a deleted object, in seconds. */
export const graceOf = (object: KubeObject): number | undefined => {
  const grace = field(object, "metadata", "deletionGracePeriodSeconds");
  return typeof grace === "number" ? grace : undefined;
};

/** The object after its first deletion, while finalizers hold it or a grace period of so many seconds runs. */
export function markedDeleted(type: ResourceType, object: KubeObject, now: Date, grace = 0): KubeObject {
  const at = inSeconds(now, grace);
  const marked = withMeta(object, "deletionTimestamp", at);
  if (type.behaviour.terminating) return type.behaviour.terminating(marked, at);
  const generation = generationOf(object);
  const counted = generation > 0 ? withMeta(marked, "generation", generation + 1) : marked;
  return withMeta(counted, "deletionGracePeriodSeconds", grace);
}

/** A deleted object after another deletion with a grace period of so many seconds. Only a shorter one has an effect. */
export function hastened(object: KubeObject, asked: number | undefined): KubeObject {
  const grace = graceOf(object);
  const at = textAt(object, "metadata", "deletionTimestamp");
  if (grace === undefined || asked === undefined || asked >= grace || at === undefined) return object;
  const sooner = withMeta(object, "deletionTimestamp", inSeconds(new Date(at), asked - grace));
  return withMeta(sooner, "deletionGracePeriodSeconds", asked);
}

/** True if a deleted object must stay. */
export const isHeld = (type: ResourceType, object: KubeObject): boolean =>
  finalizersOf(object).length > 0 || (graceOf(object) ?? 0) > 0 || type.behaviour.held?.(object) === true;
