import type { ObjectClient } from "@drover/controller";
import type { KubeObject, ResourceRef } from "@drover/kube";
import { isSameStatus } from "./condition.ts";

/** An object with a status, as it was read. */
interface WithStatus extends KubeObject {
  readonly status: object;
}

/**
 * Writes a status if it differs from the present one, for the version that was read. Returns the object as it was written;
 * undefined if nothing was written.
 */
export async function replaceStatus<O extends WithStatus>(
  { client, signal }: { readonly client: ObjectClient; readonly signal?: AbortSignal },
  ref: ResourceRef,
  object: O,
  status: O["status"],
): Promise<KubeObject | undefined> {
  if (isSameStatus(object.status, status)) return undefined;
  return client.replace(ref, { ...object, status }, { subresource: "status", ...(signal && { signal }) });
}
