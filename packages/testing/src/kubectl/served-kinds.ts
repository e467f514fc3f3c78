import type { ResourceRef } from "@drover/kube";
import { z } from "zod";
import { type ApiAddress, authorizationHeader } from "./api-address.ts";

/** A kind as manifests name it. */
export interface KindName {
  /** `v1`, or `group/version`. */
  readonly apiVersion: string;
  readonly kind: string;
}

/** The cluster does not serve the kind. The message lists the kinds that it serves. */
export class UnknownKindError extends Error {
  override readonly name = "UnknownKindError";
}

const resourceList = z.object({
  resources: z.array(z.object({ name: z.string(), kind: z.string(), namespaced: z.boolean() })),
});

/**
 * Finds the resource of a manifest's kind by the server's discovery, which is read once for each group and version.
 */
export function servedKinds(address: ApiAddress): (of: KindName) => Promise<ResourceRef> {
  const known = new Map<string, ResourceRef>();
  const nameOf = ({ apiVersion, kind }: KindName): string => `${kind} in ${apiVersion}`;
  const discover = async (apiVersion: string): Promise<readonly string[]> => {
    const [version = "", group = ""] = apiVersion.split("/").reverse();
    const response = await fetch(`${address.server}/${group === "" ? "api" : "apis"}/${apiVersion}`, {
      headers: authorizationHeader(address),
    });
    const { resources } = response.ok ? resourceList.parse(await response.json()) : { resources: [] };
    const kinds = resources.filter(({ name }) => !name.includes("/"));
    for (const { name: plural, kind, namespaced } of kinds) {
      known.set(nameOf({ apiVersion, kind }), { group, version, plural, kind, namespaced });
    }
    return kinds.map(({ kind }) => kind);
  };
  return async (of) => {
    const served = known.has(nameOf(of)) ? [] : await discover(of.apiVersion);
    const ref = known.get(nameOf(of));
    if (ref !== undefined) return ref;
    const there = served.length === 0 ? "nothing of that group and version" : `${served.join(", ")} there`;
    throw new UnknownKindError(
      `The cluster serves no ${nameOf(of)}: ${there}. Correct the name, or give the kind's definition with \`crds\`.`,
    );
  };
}
