import { builtin, type NewObject } from "@drover/kube";
import type { FunctionObject } from "../objects/function-object.ts";
import type { ServiceAccountRef } from "../function-ref.ts";

/**
 * A Role with `rules` and its binding to a ServiceAccount, in the namespace of `metadata`. Without a namespace: a
 * ClusterRole and its binding.
 */
export function boundRole(
  metadata: NewObject["metadata"],
  rules: readonly object[],
  { namespace, name }: ServiceAccountRef,
  more: Omit<FunctionObject, "ref" | "object">,
): readonly [FunctionObject, FunctionObject] {
  const [role, binding] =
    metadata.namespace === undefined
      ? [builtin.clusterRole, builtin.clusterRoleBinding]
      : [builtin.role, builtin.roleBinding];
  const subjects = [{ kind: "ServiceAccount", namespace, name }];
  const roleRef = { apiGroup: role.group, kind: role.kind, name: metadata.name };
  return [
    { ref: role, object: { metadata, rules }, ...more },
    { ref: binding, object: { metadata, subjects, roleRef }, ...more },
  ];
}

/** A policy rule: one verb on one named object. */
export const ruleFor = (verb: string, resource: string, name: string, group = "") => ({
  apiGroups: [group],
  resources: [resource],
  resourceNames: [name],
  verbs: [verb],
});
