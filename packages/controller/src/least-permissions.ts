import type { Controller } from "./controller.ts";
import type { PermissionRule } from "./function-deployment.ts";
import type { Predicates, ReconcileFunctionSpec } from "./reconcile-function.ts";
import type { Resource } from "./resource.ts";
import { isInCode, type Kind } from "./watched.ts";

export type Permissions = NonNullable<ReconcileFunctionSpec["permissions"]>;

/** What the code does not say by itself. */
export interface PermissionFacts {
  /** The namespace that the function lives in, where that is known. */
  readonly namespace?: string | undefined;
  /** Whether its runs call `readSecret`: for any Secret, or for these names. */
  readonly readsSecrets?: boolean | readonly string[] | undefined;
  /** Whether its process has a bridge in it, which lists and watches what the controller is for, owns and watches. */
  readonly follows?: boolean;
}

/**
 * The permissions that follow from a controller's code: what the runtime asks of the API server when it runs it, and all
 * that can be done with the kinds that it `owns`. All that the runtime asks for is needed, which
 * `apps/cli/src/generate/least-permissions.real.test.ts` shows by taking each away. What the author's own clients do with
 * other kinds is not known here.
 *
 * A controller of objects in its function's own namespace alone gets rules for that namespace, also for what it owns: an
 * owner and what it owns share theirs. Any other gets them everywhere.
 */
export function leastPermissions<R extends Resource>(
  controller: Controller<R>,
  { namespace: home, readsSecrets = false, follows = false }: PermissionFacts = {},
): Permissions {
  const { for: kind, only, owns, watches, finalizer } = controller;
  const isLocal = ({ scope }: Kind, namespaces: readonly string[] | undefined): boolean =>
    scope === "Namespaced" && home !== undefined && namespaces?.every((one) => one === home) === true;
  const own = [
    rule(kind.group, kind.plural, finalizer === undefined ? ["get"] : ["get", "patch"]),
    ...(kind.foreign ? [] : [rule(kind.group, `${kind.plural}/status`, ["update"])]),
    rule("events.k8s.io", "events", ["create", "patch"]),
    ...secretRules(readsSecrets),
  ].map((one) => ({ one, local: isLocal(kind, only.namespaces) }));
  const made = owns.map(({ kind: owned, namespaces }) => ({
    one: rule(owned.group, owned.plural, ownersVerbs),
    local: isLocal(owned, namespaces) || (owned.scope === "Namespaced" && isLocal(kind, only.namespaces)),
  }));
  const asked = watches.filter(isInCode).map(({ kind: watched, namespaces }) => ({
    one: rule(watched.group, watched.plural, ["get"]),
    local: isLocal(watched, namespaces),
  }));
  const followed: readonly (Predicates & { readonly kind: Kind })[] = follows
    ? [{ kind, ...only }, ...owns, ...watches]
    : [];
  const seen = followed.map(({ kind: of, namespaces }) => ({
    one: rule(of.group, of.plural, ["list", "watch"]),
    local: isLocal(of, namespaces),
  }));
  const all = [...own, ...made, ...asked, ...seen];
  return permissionsOf({
    namespace: all.filter(({ local }) => local).map(({ one }) => one),
    cluster: all.filter(({ local }) => !local).map(({ one }) => one),
  });
}

/** What a controller does with objects of a kind that it owns. Their status is written by another controller. */
const ownersVerbs = ["get", "list", "create", "update", "patch", "delete"];

/** Both together; a rule that is in both once. */
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
