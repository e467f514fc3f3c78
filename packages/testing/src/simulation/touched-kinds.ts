import { resourceNameOf, type ResourceRef } from "@drover/kube";
import type { KindName } from "../kubectl/served-kinds.ts";
import type { Simulation } from "./simulation.ts";

/** The kinds that a simulation's controllers follow, and those that they have written. */
export async function touchedKinds(
  { followed, calls }: Pick<Simulation, "followed" | "calls">,
  served: (kind: KindName) => Promise<ResourceRef>,
): Promise<readonly ResourceRef[]> {
  const kinds = new Map(followed.map((ref) => [resourceNameOf(ref), ref]));
  for (const { call, server } of calls) {
    const { resource, path } = call;
    if (server?.object === undefined || !call.isWrite || kinds.has(resource)) continue;
    kinds.set(resource, await served({ apiVersion: apiVersionIn(path), kind: server.object.kind }));
  }
  return [...kinds.values()];
}

/** As a path of the API has it. */
const apiVersionIn = (path: string): string =>
  /^\/api\/([^/]+)/.exec(path)?.[1] ?? path.split("/").slice(2, 4).join("/");
