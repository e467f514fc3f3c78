import { builtin, type NewObject } from "@drover/kube";
import type { FunctionObject } from "./function-objects.ts";
import type { PartAccount } from "./home.ts";

/** Rights and the binding that gives them to a ServiceAccount: in the namespace of `metadata`, or else in the whole cluster. */
export function boundRole(
  metadata: NewObject["metadata"],
  rules: readonly object[],
  { namespace, name }: PartAccount,
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

/** The right to do one thing with one object. */
export const ruleFor = (verb: string, resource: string, name: string, group = "") => ({
  apiGroups: [group],
  resources: [resource],
  resourceNames: [name],
  verbs: [verb],
});
