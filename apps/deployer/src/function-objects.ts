import { type ReconcileContext, type ReconcileFunction, serviceNameOf } from "@drover/controller";
import { builtin, type NewObject, type ResourceRef } from "@drover/kube";
import { functionPolicy } from "./function-policy.ts";
import { type Home, ownedBy, ownedInCluster, roleRefOf } from "./home.ts";
import { clusterRoleOf, functionLabel } from "./names.ts";
import type { Surroundings } from "./pod-template.ts";

export type FunctionContext = ReconcileContext<typeof ReconcileFunction>;

/** An object that a function needs beside its Pods; or one that it needs no more. */
export interface FunctionObject {
  readonly ref: ResourceRef;
  readonly object: NewObject;
  readonly wanted: boolean;
  /** False for a Role that gives Drover's own gateway what was made for this function: its author gains nothing by it. */
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
  const { container, permissions = {} } = spec;
  const deployed = container !== undefined;
  const owned = (name: string) => ({ name, ...ownedBy(home) });
  return [
    {
      ref: builtin.serviceAccount,
      object: { metadata: owned(home.name) },
      // The gateway acts as it.
      wanted: deployed || spec.delivery === "webhook",
    },
    ...roles(home, permissions, deployed),
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

function roles(
  home: Home,
  { namespace: here = [], cluster: everywhere = [] }: NonNullable<FunctionContext["spec"]["permissions"]>,
  deployed: boolean,
): readonly FunctionObject[] {
  const metadata = { name: home.name, ...ownedBy(home) };
  const shared = ownedInCluster(home, clusterRoleOf(home.namespace, home.name));
  const { role, roleBinding, clusterRole, clusterRoleBinding } = builtin;
  const subjects = [{ kind: "ServiceAccount", name: home.name, namespace: home.namespace }];
  const some = (rules: readonly object[]): boolean => deployed && rules.length > 0;
  return [
    { ref: role, object: { metadata, rules: here }, wanted: some(here) },
    {
      ref: roleBinding,
      object: { metadata, subjects, roleRef: roleRefOf(role, home.name) },
      wanted: some(here),
    },
    { ref: clusterRole, object: { metadata: shared, rules: everywhere }, wanted: some(everywhere) },
    {
      ref: clusterRoleBinding,
      object: { metadata: shared, subjects, roleRef: roleRefOf(clusterRole, shared.name) },
      wanted: some(everywhere),
    },
  ];
}
