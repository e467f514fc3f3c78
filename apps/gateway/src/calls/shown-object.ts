import type { ObjectMetadata, Resource } from "@drover/controller";
import type { Call } from "@drover/webhook";

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/** An object as functions are shown it: without what is of use to the API server and to kubectl only. */
export function shownObject(
  { apiVersion, kind }: Pick<Resource, "apiVersion" | "kind">,
  object: { readonly metadata: ObjectMetadata; readonly [field: string]: unknown },
): Call["object"] {
  const { annotations, ...metadata } = object.metadata;
  const shown = Object.entries(annotations ?? {}).filter(([name]) => name !== lastApplied);
  return {
    ...object,
    ...{ apiVersion, kind },
    metadata: {
      ...Object.fromEntries(Object.entries(metadata).filter(([name]) => name !== "managedFields")),
      name: metadata.name,
      uid: metadata.uid,
      resourceVersion: metadata.resourceVersion,
      ...(shown.length > 0 && { annotations: Object.fromEntries(shown) }),
    },
  };
}
