import { ReconcileFunction } from "@drover/controller";
import type { KubeObject, NewObject } from "@drover/kube";
import { permitLabel, permitName, requestedUse } from "./permits.ts";

export const cupKind = (plural = "cups") => ({
  group: "example.com",
  version: "v1",
  kind: "Cup",
  plural,
  scope: "Namespaced",
});

/**
 * The permit of a function for the use that it requests now, as the deployer writes it.
 *
 * @param uses the uses that it permits; by default, both.
 */
export function permitOf(
  { metadata, spec }: KubeObject,
  namespace = "drover",
  uses: readonly ("followed" | "called")[] = ["followed", "called"],
): NewObject {
  const requested = requestedUse(metadata, ReconcileFunction.spec.parse(spec));
  const permitted = Object.fromEntries(uses.map((use) => [use, requested[use]]));
  return {
    metadata: { name: permitName(metadata.uid), namespace, labels: { [permitLabel]: "true" } },
    data: { uid: metadata.uid, followed: "", called: "", ...permitted },
  };
}
