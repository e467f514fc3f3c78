import { type KubeObject, listAll, nameOf, type ResourceRef } from "@drover/kube";
import type { Lister } from "../test-server.ts";

/** All that there is at one moment, as it was read. */
export interface Snapshot {
  readonly objects: readonly Found[];
  /** What there is outside of the cluster. */
  readonly outside: unknown;
}

export interface Found {
  /** `configmaps`, `deployments.apps` */
  readonly resource: string;
  readonly object: KubeObject;
}

/** Reads all objects of these kinds, past every fault. */
export async function snapshotOf(
  lister: Lister,
  refs: readonly ResourceRef[],
  outside: unknown,
): Promise<Snapshot> {
  const found = refs.map(async (ref) =>
    (await listAll(lister, ref)).map((object) => ({ resource: nameOf(ref), object })),
  );
  return { objects: (await Promise.all(found)).flat(), outside };
}
