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

/** A kind of version v1, as all of Kubernetes' own kinds below are. */
const namespaced = (group: string, plural: string, kind: string): ResourceRef => ({
  group,
  version: "v1",
  plural,
  kind,
  namespaced: true,
});
const clusterScoped = (...names: Parameters<typeof namespaced>): ResourceRef => ({
  ...namespaced(...names),
  namespaced: false,
});

/** Kubernetes' own kinds that Drover uses. */
export const builtin = {
  pod: namespaced("", "pods", "Pod"),
  node: clusterScoped("", "nodes", "Node"),
  service: namespaced("", "services", "Service"),
  endpointSlice: namespaced("discovery.k8s.io", "endpointslices", "EndpointSlice"),
  configMap: namespaced("", "configmaps", "ConfigMap"),
  secret: namespaced("", "secrets", "Secret"),
  namespace: clusterScoped("", "namespaces", "Namespace"),
  event: namespaced("events.k8s.io", "events", "Event"),
  replicaSet: namespaced("apps", "replicasets", "ReplicaSet"),
  deployment: namespaced("apps", "deployments", "Deployment"),
  serviceAccount: namespaced("", "serviceaccounts", "ServiceAccount"),
  role: namespaced("rbac.authorization.k8s.io", "roles", "Role"),
  roleBinding: namespaced("rbac.authorization.k8s.io", "rolebindings", "RoleBinding"),
  clusterRole: clusterScoped("rbac.authorization.k8s.io", "clusterroles", "ClusterRole"),
  clusterRoleBinding: clusterScoped("rbac.authorization.k8s.io", "clusterrolebindings", "ClusterRoleBinding"),
  scale: namespaced("autoscaling", "scales", "Scale"),
  lease: namespaced("coordination.k8s.io", "leases", "Lease"),
  networkPolicy: namespaced("networking.k8s.io", "networkpolicies", "NetworkPolicy"),
  subjectAccessReview: clusterScoped("authorization.k8s.io", "subjectaccessreviews", "SubjectAccessReview"),
  selfSubjectAccessReview: clusterScoped(
    "authorization.k8s.io",
    "selfsubjectaccessreviews",
    "SelfSubjectAccessReview",
  ),
  tokenReview: clusterScoped("authentication.k8s.io", "tokenreviews", "TokenReview"),
  selfSubjectReview: clusterScoped("authentication.k8s.io", "selfsubjectreviews", "SelfSubjectReview"),
  crd: clusterScoped("apiextensions.k8s.io", "customresourcedefinitions", "CustomResourceDefinition"),
  validatingAdmissionPolicy: clusterScoped(
    "admissionregistration.k8s.io",
    "validatingadmissionpolicies",
    "ValidatingAdmissionPolicy",
  ),
  validatingAdmissionPolicyBinding: clusterScoped(
    "admissionregistration.k8s.io",
    "validatingadmissionpolicybindings",
    "ValidatingAdmissionPolicyBinding",
  ),
  mutatingAdmissionPolicy: clusterScoped(
    "admissionregistration.k8s.io",
    "mutatingadmissionpolicies",
    "MutatingAdmissionPolicy",
  ),
} as const;

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
