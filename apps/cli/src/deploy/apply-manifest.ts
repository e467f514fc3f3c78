import {
  isApiError,
  keyOf,
  type KubeClient,
  type KubeObject,
  type NewObject,
  type ResourceRef,
} from "@drover/kube";
import { isFields, mergePatch } from "./merge-patch.ts";

export type Applied = "created" | "changed" | "unchanged";

/** What was applied last, so that what is left out later is taken away, and what others added is not. */
const appliedAnnotation = "drover.dev/applied-spec";

/**
 * Creates an object, or changes its spec to what is wanted.
 *
 * @param whenChanged annotations that go with every change of the spec, and with no other.
 */
export async function applyManifest(
  client: KubeClient,
  ref: ResourceRef,
  { metadata, spec }: NewObject & { readonly spec?: unknown },
  whenChanged: Readonly<Record<string, string>> = {},
): Promise<{ readonly did: Applied; readonly object: KubeObject }> {
  const wanted = isFields(spec) ? spec : {};
  const annotations = {
    ...metadata.annotations,
    [appliedAnnotation]: JSON.stringify(wanted),
    ...whenChanged,
  };
  const present = await client.get(ref, keyOf({ metadata }));
  if (present === undefined) {
    try {
      const object = await client.create(ref, { metadata: { ...metadata, annotations }, spec: wanted });
      return { did: "created", object };
    } catch (error) {
      // Somebody was faster: theirs is changed.
      if (!isApiError(error, "AlreadyExists")) throw error;
      return applyManifest(client, ref, { metadata, spec }, whenChanged);
    }
  }
  const patch = mergePatch(wanted, appliedTo(present), isFields(present["spec"]) ? present["spec"] : {});
  if (patch === undefined) return { did: "unchanged", object: present };
  const { uid, resourceVersion } = present.metadata;
  const { labels } = metadata;
  const body = {
    metadata: { uid, resourceVersion, annotations, ...(labels !== undefined && { labels }) },
    spec: patch,
  };
  try {
    return {
      did: "changed",
      object: await client.patch(ref, keyOf({ metadata }), { type: "merge", body }),
    };
  } catch (error) {
    // It changed in between: its status did, mostly.
    if (!isApiError(error, "Conflict")) throw error;
    return applyManifest(client, ref, { metadata, spec }, whenChanged);
  }
}

function appliedTo({ metadata: { annotations = {} } }: KubeObject): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(annotations[appliedAnnotation] ?? "{}");
    return isFields(value) ? value : {};
  } catch {
    return {};
  }
}
