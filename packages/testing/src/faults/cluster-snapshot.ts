import { type KubeObject, listAll, resourceNameOf, type ResourceRef } from "@drover/kube";
import type { Lister } from "../test-server.ts";

/** All objects at one moment, as read. */
export interface ClusterSnapshot {
  readonly objects: readonly FoundObject[];
  /** The state outside of the cluster. */
  readonly outside: unknown;
}

export interface FoundObject {
  /** `configmaps`, `deployments.apps` */
  readonly resource: string;
  readonly object: KubeObject;
}

/** Reads all objects of these kinds; no fault affects it. */
export async function snapshotCluster(
  lister: Lister,
  refs: readonly ResourceRef[],
  outside: unknown,
): Promise<ClusterSnapshot> {
  const found = refs.map(async (ref) =>
    (await listAll(lister, ref)).map((object) => ({ resource: resourceNameOf(ref), object })),
  );
  return { objects: (await Promise.all(found)).flat(), outside };
}
