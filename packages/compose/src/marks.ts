import { createHash } from "node:crypto";
import { type ObjectMetadata, parentAnnotation } from "@drover/controller";
import { canonicalJson } from "@drover/json";
import { controllerReference, type KubeObject, type NewObject } from "@drover/kube";
import type { DesiredChild } from "./child.ts";
import { correctedAnnotation } from "./correction.ts";

export const ownerLabel = "drover.dev/owner-uid";

/** Labels of a child: the controller that has made it, and the uid of its parent. `list` selects by them. */
export const childLabels = (controller: string, parent: Pick<ObjectMetadata, "uid">) => ({
  "drover.dev/controller": controller,
  [ownerLabel]: parent.uid,
});
export type ChildLabels = Readonly<ReturnType<typeof childLabels>>;

/** The annotation with the hash of what was applied last. If it differs, the child is to be applied. */
const appliedAnnotation = "drover.dev/applied";

/**
 * The annotation with the `deletion` of a child that is not deleted. The function no longer declares a child that is
 * removed, so that its setting must be on the child.
 */
const deletionAnnotation = "drover.dev/deletion";

/** The labels and annotations that `Orphan` removes. */
export const allMarks = {
  labels: ["drover.dev/controller", ownerLabel],
  annotations: [appliedAnnotation, deletionAnnotation, correctedAnnotation, parentAnnotation],
} as const;

/** The marks of a child: `parent` is its parent as `parentText`, if it has no owner reference. */
interface Marks {
  readonly labels: ChildLabels;
  readonly deletion: DesiredChild["deletion"];
  readonly parent?: string;
}

/** The object with Drover's marks, the hash among them, and its size. */
export function withMarks(
  object: NewObject,
  { labels, deletion, parent }: Marks,
): Pick<DesiredChild, "object" | "hash" | "size"> {
  const { metadata } = object;
  const annotations = {
    ...metadata.annotations,
    ...(deletion !== "Delete" && { [deletionAnnotation]: deletion }),
    ...(parent !== undefined && { [parentAnnotation]: parent }),
  };
  const marked = {
    ...object,
    metadata: { ...metadata, labels: { ...metadata.labels, ...labels }, annotations },
  };
  const text = canonicalJson(marked);
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 32);
  return {
    hash,
    size: text.length,
    object: {
      ...marked,
      metadata: { ...marked.metadata, annotations: { ...annotations, [appliedAnnotation]: hash } },
    },
  };
}

type Texts = Readonly<Record<string, string>>;

/**
 * The patch that gives an object the marks of a declared child, and its owner reference or none, but not the hash: its
 * fields are not applied. Undefined if it has them.
 */
export function marksPatch(
  declared: NewObject,
  { metadata }: KubeObject,
  parent: Parameters<typeof controllerReference>[0],
  isOwned: boolean,
): object | undefined {
  const { uid, resourceVersion, ownerReferences = [] } = metadata;
  const others = ownerReferences.filter((one) => one.uid !== parent.metadata.uid);
  const references = isOwned ? [...others, controllerReference(parent)] : others;
  const labels = differing(allMarks.labels, declared.metadata.labels, metadata.labels);
  const kept = allMarks.annotations.filter(
    (name) => ![appliedAnnotation, correctedAnnotation].includes(name),
  );
  const annotations = differing(kept, declared.metadata.annotations, metadata.annotations);
  const isOwnedNow = ownerReferences.some(
    (one) => one.uid === parent.metadata.uid && one.controller === true,
  );
  const isRight = isOwnedNow === isOwned && references.length === ownerReferences.length;
  if (isRight && Object.keys({ ...labels, ...annotations }).length === 0) return undefined;
  return {
    metadata: { uid, resourceVersion, labels, annotations, ...(!isRight && { ownerReferences: references }) },
  };
}

/** A merge patch of these names, from the values that are there to the wanted ones. */
const differing = (names: readonly string[], wanted: Texts = {}, there: Texts = {}) =>
  Object.fromEntries(
    names.filter((name) => wanted[name] !== there[name]).map((name) => [name, wanted[name] ?? null]),
  );

/** The object without Drover's marks and its owners, which an apply sets beside the declared fields. */
export function withoutMarks(object: KubeObject): KubeObject {
  const without = (names: readonly string[], all: Texts = {}) =>
    Object.fromEntries(Object.entries(all).filter(([name]) => !names.includes(name)));
  const { labels, annotations, ownerReferences: _, resourceVersion: __, ...metadata } = object.metadata;
  return {
    ...object,
    metadata: {
      ...metadata,
      resourceVersion: "",
      labels: without(allMarks.labels, labels),
      annotations: without(allMarks.annotations, annotations),
    },
  };
}

export const appliedHash = ({ metadata }: KubeObject): string | undefined =>
  metadata.annotations?.[appliedAnnotation];

/** What becomes of an existing child that is no longer declared. */
export function deletionOf({ metadata }: KubeObject): DesiredChild["deletion"] {
  const text = metadata.annotations?.[deletionAnnotation];
  return text === "Orphan" || text === "Retain" ? text : "Delete";
}

/** The parent that a child without owner reference names, as `parentText`; undefined if it names none. */
export const parentIn = ({ metadata }: KubeObject): string | undefined =>
  metadata.annotations?.[parentAnnotation];

/** True if this controller has made the object for a parent that it outlives, with `Retain`. */
export const isRetained = (object: KubeObject, labels: ChildLabels): boolean =>
  deletionOf(object) === "Retain" &&
  object.metadata.labels?.["drover.dev/controller"] === labels["drover.dev/controller"];
