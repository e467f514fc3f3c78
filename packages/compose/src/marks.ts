import { createHash } from "node:crypto";
import { type ObjectMetadata, parentAnnotation } from "@drover/controller";
import { canonicalJson } from "@drover/json";
import type { KubeObject, NewObject } from "@drover/kube";
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
