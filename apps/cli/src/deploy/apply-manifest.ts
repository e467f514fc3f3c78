import {
  isApiError,
  keyOf,
  type KubeClient,
  type KubeObject,
  type NewObject,
  type ResourceRef,
} from "@drover/kube";
import { isFields, threeWayMergePatch } from "./three-way-merge-patch.ts";

export type ApplyResult = "created" | "changed" | "unchanged";

/**
 * The spec that was applied last: a field that is removed from the manifest is removed from the object, and fields that
 * others added are kept.
 */
const appliedAnnotation = "drover.dev/applied-spec";

export interface ApplyOptions {
  /**
   * If true, records the applied spec. Not for a CRD: its versions are a list, and a merge patch replaces lists
   * completely.
   */
  readonly remembers: boolean;
  /** Annotations to write with every change of the spec, and only then. */
  readonly annotations: Readonly<Record<string, string>>;
}

/**
 * Creates an object, or changes its spec, labels and annotations to those of the manifest. Retries after a conflict
 * with another writer.
 */
export async function applyManifest(
  client: KubeClient,
  ref: ResourceRef,
  manifest: NewObject & { readonly spec?: unknown },
  options: ApplyOptions,
): Promise<ApplyResult> {
  for (;;) {
    const present = await client.get(ref, keyOf(manifest));
    try {
      return present === undefined
        ? await create(client, ref, manifest, options)
        : await change(client, ref, manifest, present, options);
    } catch (error) {
      if (!isApiError(error, "AlreadyExists", "Conflict")) throw error;
    }
  }
}

async function create(
  client: KubeClient,
  ref: ResourceRef,
  { metadata, spec }: NewObject & { readonly spec?: unknown },
  options: ApplyOptions,
): Promise<ApplyResult> {
  const annotations = { ...metadata.annotations, ...annotationsFor(spec, options) };
  await client.create(ref, { metadata: { ...metadata, annotations }, spec });
  return "created";
}

async function change(
  client: KubeClient,
  ref: ResourceRef,
  { metadata, spec }: NewObject & { readonly spec?: unknown },
  present: KubeObject,
  options: ApplyOptions,
): Promise<ApplyResult> {
  const patch = threeWayMergePatch(fieldsOf(spec), appliedTo(present), fieldsOf(present["spec"]));
  const { uid, resourceVersion, labels = {}, annotations = {} } = present.metadata;
  const words = threeWayMergePatch(labelsAndAnnotations(metadata), {}, { labels, annotations });
  if (patch === undefined && words === undefined) return "unchanged";
  const stated = {
    ...labelsAndAnnotations(metadata).annotations,
    ...(patch && annotationsFor(spec, options)),
  };
  const body = {
    metadata: { uid, resourceVersion, ...words, annotations: stated },
    ...(patch && { spec: patch }),
  };
  await client.patch(ref, keyOf({ metadata }), { type: "merge", body });
  return "changed";
}

/** The labels and annotations of a manifest. Those added by others are kept. */
const labelsAndAnnotations = ({ labels = {}, annotations = {} }: NewObject["metadata"]) => ({
  labels,
  annotations,
});

const annotationsFor = (spec: unknown, { remembers, annotations }: ApplyOptions) => ({
  ...(remembers && { [appliedAnnotation]: JSON.stringify(spec) }),
  ...annotations,
});

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> => (isFields(value) ? value : {});

function appliedTo({ metadata: { annotations = {} } }: KubeObject): Readonly<Record<string, unknown>> {
  try {
    return fieldsOf(JSON.parse(annotations[appliedAnnotation] ?? "{}"));
  } catch {
    return {};
  }
}
