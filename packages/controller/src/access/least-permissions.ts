import type { Controller } from "../definition/controller.ts";
import type { PermissionRule } from "../function/deployment-declarations.ts";
import type { Predicates } from "../function/watched-kind-declaration.ts";
import type { ReconcileFunctionSpec } from "../function/reconcile-function.ts";
import type { Resource } from "../resource/resource.ts";
import { hasNamesInCode, isRelated, type Kind, type RelatedInCode } from "../definition/watched-kinds.ts";

export type Permissions = NonNullable<ReconcileFunctionSpec["permissions"]>;

/** Facts about a function that its controller's definition does not contain. */
export interface PermissionFacts {
  /** The function's namespace, if it is known. */
  readonly namespace?: string | undefined;
  /** If its runs call `readSecret`: true for any Secret, or the Secrets' names. */
  readonly readsSecrets?: boolean | readonly string[] | undefined;
  /** True if its process contains a bridge, which lists and watches all kinds of the controller. */
  readonly hasBridge?: boolean;
}

/**
 * The permissions that follow from a controller's code: for the runtime's requests to the API server when it runs the
 * controller, and for everything that an owner does with objects of the kinds that it `owns`. Each of the runtime's
 * permissions is needed: `apps/cli/src/generate/least-permissions.real.test.ts` shows it by removing each one. Requests
 * of the author's own clients for other kinds are not covered.
 *
 * A controller that handles only objects in its function's own namespace gets rules for that namespace, also for the
 * kinds that it owns: an owner and its objects share a namespace, unless `acrossNamespaces` is set. Any other controller
 * gets rules for all namespaces.
 */
export function leastPermissions<R extends Resource>(
  controller: Controller<R>,
  { namespace: home, readsSecrets = false, hasBridge = false }: PermissionFacts = {},
): Permissions {
  const { for: kind, only, owns, watches, finalizer } = controller;
  const isLocal = ({ scope }: Kind, namespaces: readonly string[] | undefined): boolean =>
    scope === "Namespaced" && home !== undefined && namespaces?.every((one) => one === home) === true;
  const own = [
    rule(kind.group, kind.plural, finalizer === undefined ? ["get"] : ["get", "patch"]),
    ...(kind.foreign ? [] : [rule(kind.group, `${kind.plural}/status`, ["update"])]),
    ...(owns.length > 0 ? [rule(kind.group, ...toBlockDeletion(kind))] : []),
    rule("events.k8s.io", "events", ["create", "patch"]),
    ...secretRules(readsSecrets),
  ].map((one) => ({ one, local: isLocal(kind, only.namespaces) }));
  const besideParent = ({ scope }: Kind): boolean => scope === "Namespaced" && isLocal(kind, only.namespaces);
  const made = owns.map(({ kind: owned, namespaces, acrossNamespaces = false }) => ({
    one: rule(owned.group, owned.plural, ownersVerbs),
    local: isLocal(owned, namespaces) || (!acrossNamespaces && besideParent(owned)),
  }));
  const asked = watches.filter(hasNamesInCode).map(({ kind: watched, namespaces }) => ({
    one: rule(watched.group, watched.plural, ["get"]),
    local: isLocal(watched, namespaces),
  }));
  const read = watches.filter(isRelated).map(({ kind: related, namespaces, names }) => ({
    one: rule(related.group, related.plural, relatedVerbs(names)),
    local: isLocal(related, namespaces) || besideParent(related),
  }));
  const followed: readonly (Predicates & { readonly kind: Kind })[] = hasBridge
    ? [{ kind, ...only }, ...owns, ...watches]
    : [];
  const seen = followed.map(({ kind: of, namespaces }) => ({
    one: rule(of.group, of.plural, ["list", "watch"]),
    local: isLocal(of, namespaces),
  }));
  const all = [...own, ...made, ...asked, ...read, ...seen];
  return permissionsOf({
    namespace: all.filter(({ local }) => local).map(({ one }) => one),
    cluster: all.filter(({ local }) => !local).map(({ one }) => one),
  });
}

/**
 * The resource and the verbs that a function needs to make objects with a controller reference, which blocks the deletion
 * of their owner. API servers with the admission plugin OwnerReferencesPermissionEnforcement, such as OpenShift's, check
 * them.
 *
 * @see https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#ownerreferencespermissionenforcement
 */
export const toBlockDeletion = ({ plural }: Pick<Kind, "plural">) =>
  [`${plural}/finalizers`, ["update"]] as const satisfies readonly [string, readonly string[]];

/** Verbs of a controller on objects of a kind that it owns. Their status is written by another controller. */
const ownersVerbs = ["get", "list", "create", "update", "patch", "delete"];

type WatchedNames = NonNullable<ReconcileFunctionSpec["watches"]>[number]["names"];

/** Verbs by which related objects are read: by name if the object or code names them, or else from a list. */
export const relatedVerbs = (names: RelatedInCode | WatchedNames): readonly string[] =>
  typeof names === "function" || names.referencedBy !== undefined || names.code === true ? ["get"] : ["list"];

/** Merges two sets of permissions; a rule that is in both appears once. */
export const withPermissions = (some: Permissions, more: Permissions = {}): Permissions =>
  permissionsOf({
    namespace: [...(some.namespace ?? []), ...(more.namespace ?? [])],
    cluster: [...(some.cluster ?? []), ...(more.cluster ?? [])],
  });

const permissionsOf = ({ namespace, cluster }: Record<keyof Permissions, PermissionRule[]>): Permissions => ({
  ...(namespace.length > 0 && { namespace: distinct(namespace) }),
  ...(cluster.length > 0 && { cluster: distinct(cluster) }),
});

function secretRules(reads: boolean | readonly string[]): readonly PermissionRule[] {
  if (reads === false || (reads !== true && reads.length === 0)) return [];
  const rules = rule("", "secrets", ["get"]);
  return [reads === true ? rules : { ...rules, resourceNames: [...reads] }];
}

const rule = (group: string, resource: string, verbs: readonly string[]): PermissionRule => ({
  apiGroups: [group],
  resources: [resource],
  verbs: [...verbs],
});

const distinct = (rules: readonly PermissionRule[]): PermissionRule[] => [
  ...new Map(rules.map((one) => [JSON.stringify(one), one])).values(),
];
