import { randomUUID } from "node:crypto";

/** One action that a user may or may not perform, in the terms of a SubjectAccessReview. */
export interface Access {
  /** If omitted: all namespaces, and cluster-scoped objects. */
  readonly namespace?: string | undefined;
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string | undefined;
  /** If omitted: objects of every name. Empty: requests without a name. */
  readonly name?: string | undefined;
}

/**
 * The `resourceAttributes` of a SubjectAccessReview for an access. For an access to every name, the review contains a
 * name that no rule can list. A review without a name would also be allowed by a rule that lists only the empty name.
 */
export const resourceAttributesOf = (access: Access): Access => ({
  ...access,
  name: access.name ?? unlistedName,
});
const unlistedName = `any-${randomUUID()}`;

/** A rule of a Role or ClusterRole (`rbac.authorization.k8s.io/v1` PolicyRule), without nonResourceURLs. */
export interface PolicyRule {
  readonly apiGroups?: readonly string[] | undefined;
  readonly resources?: readonly string[] | undefined;
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[] | undefined;
}

/** An access as text for messages: `get secrets named a in namespace b`. */
export const describeAccess = ({ namespace, verb, group, resource, subresource, name }: Access): string =>
  `${verb} ${[resource, subresource].filter(Boolean).join("/")}` +
  `${group === "" ? "" : ` of ${group}`}${name === undefined ? "" : ` named ${name}`} ` +
  (namespace === undefined ? "in all namespaces" : `in namespace ${namespace}`);

/**
 * The accesses that rules grant: a user with all of them may do everything that the rules allow.
 *
 * It follows Kubernetes' own evaluation (`RuleAllows` in plugin/pkg/auth/authorizer/rbac): an empty or absent
 * `resourceNames` means every name, an empty name means requests without a name, only a rule that contains `*` grants
 * `*`, and the subresource of `pods/exec/x` is everything after the first slash. Rules without groups, resources or
 * verbs grant nothing.
 *
 * @param namespace of the Role; omit it for a ClusterRole that is bound in all namespaces.
 */
export function accessesOf(rules: readonly PolicyRule[], namespace?: string): readonly Access[] {
  const accesses = new Map<string, Access>();
  for (const { apiGroups = [], resources = [], verbs, resourceNames = [] } of rules) {
    const names = resourceNames.length === 0 ? [undefined] : resourceNames;
    for (const group of apiGroups) {
      for (const path of resources) {
        for (const verb of verbs) {
          for (const name of names) {
            const access = { namespace, verb, group, ...splitResource(path), name };
            accesses.set(JSON.stringify(access), access);
          }
        }
      }
    }
  }
  return [...accesses.values()];
}

function splitResource(path: string): Pick<Access, "resource" | "subresource"> {
  const slash = path.indexOf("/");
  return slash === -1
    ? { resource: path, subresource: undefined }
    : { resource: path.slice(0, slash), subresource: path.slice(slash + 1) };
}

/**
 * True if granted accesses ({@link accessesOf} of rules) allow a request, as Kubernetes decides it (`RuleAllows` in
 * plugin/pkg/auth/authorizer/rbac).
 *
 * @param request without a namespace: all namespaces, or cluster-scoped objects; without a name: no single object.
 */
export const isGranted = (request: Access, granted: readonly Access[]): boolean =>
  granted.some(
    ({ namespace, verb, group, name, ...held }) =>
      (namespace === undefined || namespace === request.namespace) &&
      isAllOr(verb, request.verb) &&
      isAllOr(group, request.group) &&
      (name === undefined || name === (request.name ?? "")) &&
      isResource(held, request),
  );

const isAllOr = (held: string, asked: string): boolean => held === "*" || held === asked;

/** `*` is every resource with all its subresources; `*` with a subresource is that subresource of every resource. */
const isResource = (held: Pick<Access, "resource" | "subresource">, asked: Access): boolean =>
  (held.resource === "*" && held.subresource === undefined) ||
  (isAllOr(held.resource, asked.resource) && held.subresource === asked.subresource);

/** The maximum number of accesses that rules grant, computed without listing them. */
export const accessCount = (rules: readonly PolicyRule[]): number =>
  rules.reduce(
    (sum, { apiGroups = [], resources = [], verbs, resourceNames = [] }) =>
      sum + apiGroups.length * resources.length * verbs.length * Math.max(1, resourceNames.length),
    0,
  );
