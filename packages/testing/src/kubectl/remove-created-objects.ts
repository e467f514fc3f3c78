import type { CallRecord } from "../fault-proxy/index.ts";
import type { ApiAddress } from "./api-address.ts";
import { plainRequest } from "./plain-request.ts";

/**
 * Deletes every object with a creation in the record, and its finalizers; CRDs stay.
 */
export async function removeCreatedObjects(server: ApiAddress, record: readonly CallRecord[]): Promise<void> {
  for (const path of new Set(record.flatMap(createdPath)).values()) {
    // Whatever is answered: the object may be gone.
    await plainRequest(server, { method: "PATCH", path, body: { metadata: { finalizers: null } } });
    await plainRequest(server, { method: "DELETE", path, body: atOnce });
  }
}

function createdPath({ call, server }: CallRecord): readonly string[] {
  const isMade = server?.status === 201 && server.object !== undefined && call.subresource === "";
  if (!isMade || call.resource === definitions) return [];
  return [call.verb === "create" ? `${call.path}/${server.object.name}` : call.path];
}

const definitions = "customresourcedefinitions.apiextensions.k8s.io";
const atOnce = {
  kind: "DeleteOptions",
  apiVersion: "v1",
  gracePeriodSeconds: 0,
  // The default for Jobs is to wait until the garbage collector has released their pods.
  propagationPolicy: "Background",
};
