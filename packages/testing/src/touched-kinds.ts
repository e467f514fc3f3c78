import type { Controller } from "@drover/controller";
import type { Entry } from "@drover/fault-proxy";
import { nameOf, refOf, type ResourceRef } from "@drover/kube";
import { followerOf } from "./lane.ts";
import type { KindName } from "./served-kinds.ts";

/** The kinds that controllers follow, and those that they have written. */
export async function touchedKinds(
  controllers: readonly Controller[],
  calls: readonly Entry[],
  served: (kind: KindName) => Promise<ResourceRef>,
): Promise<readonly ResourceRef[]> {
  const followed = controllers.flatMap((one) => [
    refOf(one.for),
    ...followerOf(one).follows.map(({ ref }) => ref),
  ]);
  const kinds = new Map(followed.map((ref) => [nameOf(ref), ref]));
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
