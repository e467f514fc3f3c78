import {
  type Kind,
  type ObjectKey,
  type Resource,
  type ResourceRef,
  splitObjectKey,
} from "@drover/controller";

export type { ResourceRef } from "@drover/controller";

/** The reference of a kind that was defined with `defineResource`, or is declared by the same fields. */
export function refOf({
  group,
  version,
  plural,
  kind,
  scope,
}: Pick<Resource, "group" | "version" | "plural" | "kind" | "scope">): ResourceRef {
  return { group, version, plural, kind, namespaced: scope === "Namespaced" };
}

/** The kind as a controller declares it, in `owns` and `watches`. */
export const kindOf = ({ namespaced, ...names }: ResourceRef): Kind => ({
  ...names,
  scope: namespaced ? "Namespaced" : "Cluster",
});

/** Kubernetes' own kinds that Drover uses. */
export const builtin = {
  pod: { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true },
  node: { group: "", version: "v1", plural: "nodes", kind: "Node", namespaced: false },
  service: { group: "", version: "v1", plural: "services", kind: "Service", namespaced: true },
  configMap: { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true },
  secret: { group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true },
  namespace: { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false },
  event: { group: "events.k8s.io", version: "v1", plural: "events", kind: "Event", namespaced: true },
  replicaSet: { group: "apps", version: "v1", plural: "replicasets", kind: "ReplicaSet", namespaced: true },
  deployment: { group: "apps", version: "v1", plural: "deployments", kind: "Deployment", namespaced: true },
  serviceAccount: {
    group: "",
    version: "v1",
    plural: "serviceaccounts",
    kind: "ServiceAccount",
    namespaced: true,
  },
  role: {
    group: "rbac.authorization.k8s.io",
    version: "v1",
    plural: "roles",
    kind: "Role",
    namespaced: true,
  },
  roleBinding: {
    group: "rbac.authorization.k8s.io",
    version: "v1",
    plural: "rolebindings",
    kind: "RoleBinding",
    namespaced: true,
  },
  clusterRole: {
    group: "rbac.authorization.k8s.io",
    version: "v1",
    plural: "clusterroles",
    kind: "ClusterRole",
    namespaced: false,
  },
  clusterRoleBinding: {
    group: "rbac.authorization.k8s.io",
    version: "v1",
    plural: "clusterrolebindings",
    kind: "ClusterRoleBinding",
    namespaced: false,
  },
  lease: { group: "coordination.k8s.io", version: "v1", plural: "leases", kind: "Lease", namespaced: true },
  networkPolicy: {
    group: "networking.k8s.io",
    version: "v1",
    plural: "networkpolicies",
    kind: "NetworkPolicy",
    namespaced: true,
  },
  subjectAccessReview: {
    group: "authorization.k8s.io",
    version: "v1",
    plural: "subjectaccessreviews",
    kind: "SubjectAccessReview",
    namespaced: false,
  },
  selfSubjectAccessReview: {
    group: "authorization.k8s.io",
    version: "v1",
    plural: "selfsubjectaccessreviews",
    kind: "SelfSubjectAccessReview",
    namespaced: false,
  },
  tokenReview: {
    group: "authentication.k8s.io",
    version: "v1",
    plural: "tokenreviews",
    kind: "TokenReview",
    namespaced: false,
  },
  selfSubjectReview: {
    group: "authentication.k8s.io",
    version: "v1",
    plural: "selfsubjectreviews",
    kind: "SelfSubjectReview",
    namespaced: false,
  },
  crd: {
    group: "apiextensions.k8s.io",
    version: "v1",
    plural: "customresourcedefinitions",
    kind: "CustomResourceDefinition",
    namespaced: false,
  },
} as const satisfies Readonly<Record<string, ResourceRef>>;

/** The `apiVersion` of the kind's objects: `v1`, or `group/version`. */
export const apiVersionOf = ({ group, version }: ResourceRef): string =>
  group === "" ? version : `${group}/${version}`;

/** `plural.group`, the name of a kind for people and in RBAC; `plural` in the core group. */
export const resourceNameOf = ({ group, plural }: ResourceRef): string =>
  group === "" ? plural : `${plural}.${group}`;

/** The path of a kind's collection: in one namespace, or without `namespace`, in all. @throws WrongScopeError */
export function collectionPath(ref: ResourceRef, namespace?: string): string {
  if (namespace !== undefined && !ref.namespaced) {
    throw new WrongScopeError(`${ref.kind} is cluster-scoped; ask for it without a namespace.`);
  }
  const root = ref.group === "" ? pathOf("api", ref.version) : pathOf("apis", ref.group, ref.version);
  const within = namespace === undefined ? "" : pathOf("namespaces", namespace);
  return `${root}${within}${pathOf(ref.plural)}`;
}

/** The path of one object, or of one of its subresources. @throws WrongScopeError */
export function objectPath(ref: ResourceRef, key: ObjectKey, subresource?: string): string {
  const { namespace, name } = splitObjectKey(key);
  if (ref.namespaced && namespace === undefined) {
    throw new WrongScopeError(`${ref.kind} is namespaced; ask for "namespace/${name}".`);
  }
  const below = subresource === undefined ? "" : pathOf(subresource);
  return `${collectionPath(ref, namespace)}${pathOf(name)}${below}`;
}

/**
 * Path segments, each after a slash. Every segment is encoded: a text in a declaration cannot add a segment, a query or
 * a fragment.
 *
 * @throws InvalidSegmentError for a segment that is empty, `.` or `..`: a server may resolve these to another path.
 */
function pathOf(...segments: readonly string[]): string {
  return segments.map((segment) => `/${encoded(segment)}`).join("");
}

function encoded(segment: string): string {
  if (segment === "" || segment === "." || segment === "..") throw new InvalidSegmentError(segment);
  return encodeURIComponent(segment);
}

/** Text that cannot be a segment of an API path. */
export class InvalidSegmentError extends Error {
  override readonly name = "InvalidSegmentError";
  constructor(segment: string) {
    super(
      `${JSON.stringify(segment)} cannot be a part of an API path. Correct the group, version, plural, namespace or name.`,
    );
  }
}

/** A key with a namespace for a cluster-scoped kind, or without one for a namespaced kind. */
export class WrongScopeError extends Error {
  override readonly name = "WrongScopeError";
}
