import type { Entry } from "@drover/fault-proxy";
import { plainRequest } from "./plain-request.ts";

/**
 * Removes every object whose creation is in the record, whatever holds it; definitions of kinds stay.
 *
 * @param server the URL of the API server, without credentials.
 */
export async function removeMade(server: string, record: readonly Entry[]): Promise<void> {
  for (const path of new Set(record.flatMap(madePath)).values()) {
    // Whatever is answered: the object may be gone.
    await plainRequest(`${server}${path}`, "PATCH", { metadata: { finalizers: null } });
    await plainRequest(`${server}${path}`, "DELETE", atOnce);
  }
}

function madePath({ call, server }: Entry): readonly string[] {
  const isMade = server?.status === 201 && server.object !== undefined && call.subresource === "";
  if (!isMade || call.resource === definitions) return [];
  return [call.verb === "create" ? `${call.path}/${server.object.name}` : call.path];
}

const definitions = "customresourcedefinitions.apiextensions.k8s.io";
const atOnce = { kind: "DeleteOptions", apiVersion: "v1", gracePeriodSeconds: 0 };
