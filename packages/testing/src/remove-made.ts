import type { Entry } from "@drover/fault-proxy";

/**
 * Removes every object whose creation is in the record, whatever holds it; definitions of kinds stay.
 *
 * @param server the URL of the API server, without credentials.
 */
export async function removeMade(server: string, record: readonly Entry[]): Promise<void> {
  for (const path of new Set(record.flatMap(madePath)).values()) {
    await ask(`${server}${path}`, "PATCH", { metadata: { finalizers: null } });
    await ask(`${server}${path}`, "DELETE", {
      kind: "DeleteOptions",
      apiVersion: "v1",
      gracePeriodSeconds: 0,
    });
  }
}

function madePath({ call, server }: Entry): readonly string[] {
  const isMade = server?.status === 201 && server.object !== undefined && call.subresource === "";
  if (!isMade || call.resource === definitions) return [];
  return [call.verb === "create" ? `${call.path}/${server.object.name}` : call.path];
}

const definitions = "customresourcedefinitions.apiextensions.k8s.io";

/** Whatever it answers: the object may be gone. */
async function ask(url: string, method: string, body: object): Promise<void> {
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const response = await fetch(url, {
    method,
    headers: { "content-type": type },
    body: JSON.stringify(body),
  });
  await response.arrayBuffer();
}
