import type { KubeObject } from "./kube-object.ts";

/**
 * The object without its managedFields. They are more than half of its metadata, and only the API server uses them.
 * Code that holds many objects at once removes them.
 */
export function withoutManagedFields(object: KubeObject): KubeObject {
  if (object.metadata["managedFields"] === undefined) return object;
  const metadata = { ...object.metadata };
  delete metadata["managedFields"];
  return { ...object, metadata };
}
