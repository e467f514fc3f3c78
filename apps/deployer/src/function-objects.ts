import { type ReconcileContext, type ReconcileFunction, serviceNameOf } from "@drover/controller";
import { builtin, type NewObject, type ResourceRef } from "@drover/kube";
import { boundRole } from "./bound-role.ts";
import { functionPolicy } from "./function-policy.ts";
import { type Home, ownedBy, ownedInCluster } from "./home.ts";
import { clusterRoleOf, functionLabel } from "./names.ts";
import type { Surroundings } from "./pod-template.ts";

export type FunctionContext = ReconcileContext<typeof ReconcileFunction>;

/** An object that a function needs beside its Pods; or one that it needs no more. */
export interface FunctionObject {
  readonly ref: ResourceRef;
  readonly object: NewObject;
  readonly wanted: boolean;
  /** False for Roles that give Drover's own parts, or KEDA, what was made for this function: its author gains nothing by them. */
  readonly reviewed?: false;
  /** It is in a namespace that the spec names. What is wrong there does not keep the function from being deployed. */
  readonly elsewhere?: true;
}

/** All but Pods, Secrets and what bridge and gateway need, in the order in which they are made: who may do what, before who does it. */
export function functionObjects(
  home: Home,
  spec: FunctionContext["spec"],
  surroundings: Surroundings,
): readonly FunctionObject[] {
  const { container, permissions: { namespace: here = [], cluster: everywhere = [] } = {} } = spec;
  const deployed = container !== undefined;
  const owned = (name: string) => ({ name, ...ownedBy(home) });
  const inCluster = ownedInCluster(home, clusterRoleOf(home.namespace, home.name));
  const some = (rules: readonly object[]): boolean => deployed && rules.length > 0;
  return [
    {
      ref: builtin.serviceAccount,
      object: { metadata: owned(home.name) },
      // The gateway acts as it.
      wanted: deployed || spec.delivery === "webhook",
    },
    ...boundRole(owned(home.name), here, home, { wanted: some(here) }),
    ...boundRole(inCluster, everywhere, home, { wanted: some(everywhere) }),
    {
      ref: builtin.service,
      object: {
        metadata: owned(serviceNameOf(home.name)),
        spec: {
          selector: { [functionLabel]: home.name },
          ports: [{ name: "http", port: 80, targetPort: "http", protocol: "TCP" }],
        },
      },
      wanted: deployed,
    },
    {
      ref: builtin.networkPolicy,
      object: {
        metadata: owned(home.name),
        spec: functionPolicy({ name: home.name, spec, ...surroundings }),
      },
      wanted: deployed,
    },
  ];
}
