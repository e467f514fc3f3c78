import { serviceNameOf, functionLabel } from "@drover/controller";
import { builtin } from "@drover/kube";
import { functionPolicy } from "@drover/runtime";
import { boundRole } from "../roles/bound-role.ts";
import { type FunctionRef, ownedMetadata, ownedClusterMetadata } from "../function-ref.ts";
import { authorsAnnotation, clusterRoleName } from "../names.ts";
import type { DeployEnvironment } from "../pods/pod-template.ts";
import type { FunctionContext, FunctionObject } from "./function-object.ts";

/**
 * All objects of a function except Pods, Secrets, and roles for bridge and gateway. In the order of their creation:
 * account and permissions first.
 */
export function functionObjects(
  functionRef: FunctionRef,
  spec: FunctionContext["spec"],
  environment: DeployEnvironment,
): readonly FunctionObject[] {
  const { container, permissions: { namespace: here = [], cluster: everywhere = [] } = {} } = spec;
  const deployed = container !== undefined;
  const owned = (name: string) => ({ name, ...ownedMetadata(functionRef) });
  const inCluster = ownedClusterMetadata(
    functionRef,
    clusterRoleName(functionRef.namespace, functionRef.name),
  );
  const some = (rules: readonly object[]): boolean => deployed && rules.length > 0;
  return [
    {
      ref: builtin.serviceAccount,
      object: { metadata: { ...owned(functionRef.name), ...authorsAnnotations(container) } },
      // The gateway impersonates it.
      wanted: deployed || spec.delivery === "webhook",
    },
    ...boundRole(owned(functionRef.name), here, functionRef, { wanted: some(here) }),
    ...boundRole(inCluster, everywhere, functionRef, { wanted: some(everywhere) }),
    {
      ref: builtin.service,
      object: {
        metadata: owned(serviceNameOf(functionRef.name)),
        spec: {
          selector: { [functionLabel]: functionRef.name },
          ports: [{ name: "http", port: 80, targetPort: "http", protocol: "TCP" }],
        },
      },
      wanted: deployed,
    },
    {
      ref: builtin.networkPolicy,
      object: {
        metadata: owned(functionRef.name),
        spec: functionPolicy({ name: functionRef.name, spec, ...environment }),
      },
      wanted: deployed,
    },
  ];
}

function authorsAnnotations(container: FunctionContext["spec"]["container"]) {
  const annotations = container?.serviceAccount?.annotations;
  if (annotations === undefined) return {};
  return { annotations: { ...annotations, [authorsAnnotation]: Object.keys(annotations).join(" ") } };
}
