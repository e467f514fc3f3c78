import type { Manifest } from "./manifests.ts";

const apiGroup = "rbac.authorization.k8s.io";

export interface Subject {
  readonly kind: "ServiceAccount" | "User";
  readonly name: string;
  /** The namespace of a ServiceAccount. Default: the namespace of the binding. */
  readonly namespace?: string;
}

/** A Role with these rules, and its binding to a subject; without a namespace they are a ClusterRole and its binding. */
export function boundRole(
  metadata: Manifest["metadata"],
  rules: readonly object[],
  subject: Subject,
): readonly [Manifest, Manifest] {
  const apiVersion = `${apiGroup}/v1`;
  const kind = metadata.namespace === undefined ? "ClusterRole" : "Role";
  const roleRef = { apiGroup, kind, name: metadata.name };
  return [
    { apiVersion, kind, metadata, rules },
    { apiVersion, kind: `${kind}Binding`, metadata, roleRef, subjects: [subject] },
  ];
}
