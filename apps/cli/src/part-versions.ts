import type { KubeClient } from "@drover/kube";
import { type AbsentPart, leaseOf, type Part, versionOf } from "@drover/runtime";
import { findAbsentParts, type FindAbsentPartsOptions } from "./find-absent-parts.ts";

/** A running part of Drover, and its version. */
export interface PartVersion {
  readonly part: Part;
  readonly version: string;
}

export interface PartVersions {
  readonly absent: readonly AbsentPart[];
  readonly running: readonly PartVersion[];
}

/** The versions of the parts that functions need; undefined if the user may not read Leases. */
export async function partVersions(
  client: KubeClient,
  {
    isCalled,
    ...where
  }: Pick<FindAbsentPartsOptions, "namespace"> & {
    /** True if a function is called over HTTP, and so needs the gateway. */
    readonly isCalled: boolean;
  },
): Promise<PartVersions | undefined> {
  const parts: readonly Part[] = ["bridge", "deployer", ...(isCalled ? (["gateway"] as const) : [])];
  const absent = await findAbsentParts(client, { ...where, parts });
  if (absent === undefined) return undefined;
  const running = parts.filter((part) => !absent.some((one) => one.part === part));
  const found = await Promise.all(
    running.map(async (part) => {
      const lease = await leaseOf(client, { ...where, part });
      if (lease === undefined) return [];
      return [{ part, version: versionOf(lease) ?? "a version that does not state itself" }];
    }),
  );
  return { absent, running: found.flat() };
}
