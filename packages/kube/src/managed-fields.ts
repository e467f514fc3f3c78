import type { KubeObject } from "./kube-object.ts";

/**
 * The object without its managedFields: more than half of its metadata, and of use only to the API server. Who holds
 * many objects at once leaves them out.
 */
export function withoutManagedFields(object: KubeObject): KubeObject {
  if (object.metadata["managedFields"] === undefined) return object;
  const metadata = { ...object.metadata };
  delete metadata["managedFields"];
  return { ...object, metadata };
}
