import { type Access, accessesOf, type PolicyRule } from "./access.ts";
import { type Permissions, relatedVerbs, toBlockDeletion } from "./least-permissions.ts";
import type { ReconcileFunctionSpec } from "../function/reconcile-function.ts";
import { declaresChildren } from "../function/webhook-problem.ts";

/** A kind with changes that wake a function's keys, in all namespaces or in the listed ones. */
export type FollowedKind = Pick<ReconcileFunctionSpec["for"], "group" | "plural" | "namespaces">;

/** The kinds with changes that wake a function's keys. */
export const followedKinds = (spec: ReconcileFunctionSpec): readonly FollowedKind[] => [
  spec.for,
  ...(spec.owns ?? []),
  ...(spec.watches ?? []),
];

/**
 * All accesses that the author of a function must have: to list and watch its kinds, the permissions of its
 * ServiceAccount, the requests that the gateway makes in its name if it is called, and {@link implicitAccess}.
 *
 * The deployer reviews the Roles that it is about to write (apps/deployer/src/permits/granted-access.ts); this is the
 * same list for a program that writes no Roles.
 *
 * @param namespace of the function.
 */
export function neededAccess(spec: ReconcileFunctionSpec, namespace: string): readonly Access[] {
  const { permissions = {}, container } = spec;
  return [
    ...bridgeAccess(spec),
    ...(container === undefined ? [] : permittedAccess(permissions, namespace)),
    ...gatewayAccess(spec),
    ...implicitAccess(spec, namespace),
  ];
}

/** The accesses that a function's permissions grant: by a Role in its namespace, by a ClusterRole in all. */
export const permittedAccess = (
  { namespace: here = [], cluster: everywhere = [] }: Permissions,
  namespace: string,
): readonly Access[] => [...accessesOf(here, namespace), ...accessesOf(everywhere)];

/**
 * Accesses that a function uses without a Role of its own: it runs Pods, an annotation may give its ServiceAccount an
 * identity in a cloud, and Secrets verify its hooks' events.
 */
export function implicitAccess(
  { container, hooks = [] }: ReconcileFunctionSpec,
  namespace: string,
): readonly Access[] {
  const may = (verb: string, resource: string): Access => ({ namespace, verb, group: "", resource });
  const pods = container === undefined ? [] : [may("create", "pods")];
  const account =
    container?.serviceAccount === undefined
      ? []
      : ["create", "patch"].map((verb) => may(verb, "serviceaccounts"));
  return [...pods, ...account, ...hooks.flatMap((hook) => hookSecrets(hook, namespace))];
}

const hookSecrets = (
  { verify }: NonNullable<ReconcileFunctionSpec["hooks"]>[number],
  namespace: string,
): readonly Access[] =>
  [verify.standardWebhooks, verify.hmac, verify.bearer].flatMap((scheme) =>
    scheme === undefined
      ? []
      : [{ namespace, verb: "get", group: "", resource: "secrets", name: scheme.secretRef.name }],
  );

/** Accesses that the bridge uses for a function: they reveal keys and changes, which not every user may see. */
export const bridgeAccess = (spec: ReconcileFunctionSpec): readonly Access[] =>
  followedKinds(spec).flatMap(({ group, plural: resource, namespaces }) =>
    (namespaces ?? [undefined]).flatMap((namespace) =>
      ["list", "watch"].map((verb) => ({ namespace, verb, group, resource })),
    ),
  );

/** Rules for the gateway's requests about objects of a kind, made as the ServiceAccount of a function that it calls. */
export const gatewayRules = ({ group, plural }: FollowedKind): readonly PolicyRule[] => [
  { apiGroups: [group], resources: [plural], verbs: ["get", "patch"] },
  { apiGroups: [group], resources: [`${plural}/status`], verbs: ["update"] },
  { apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create", "patch"] },
];

/** Rules for the children that a called function declares: the gateway makes them as the function's ServiceAccount. */
const childRules = ({ group, plural }: FollowedKind): readonly PolicyRule[] => [
  { apiGroups: [group], resources: [plural], verbs: ["get", "list", "create", "patch", "delete"] },
];

/** Rules for the objects that a called function gets beside an object: the gateway reads them as the function's account. */
const relatedRules = ({ group, plural, names }: Watched): readonly PolicyRule[] => [
  // A hook names objects, or selects them by label.
  {
    apiGroups: [group],
    resources: [plural],
    verbs: names.code === true ? ["get", "list"] : relatedVerbs(names),
  },
];

type Watched = NonNullable<ReconcileFunctionSpec["watches"]>[number];

/** A kind, and the rules for the gateway's requests about its objects, in the namespaces of the kind. */
export interface GatewayRules {
  readonly kind: FollowedKind;
  readonly rules: readonly PolicyRule[];
}

/**
 * The rules for what the gateway does as the ServiceAccount of a called function: with the objects of its kind, with
 * their children, and with the related objects. These are in the namespaces of their own kind, or else in those of `for`.
 */
export function rulesOfCalled({
  for: kind,
  owns = [],
  watches = [],
  webhook,
}: ReconcileFunctionSpec): readonly GatewayRules[] {
  const own = { kind, rules: gatewayRules(kind) };
  if (!declaresChildren(webhook)) return [own];
  const [finalizers, verbs] = toBlockDeletion(kind);
  const owner = { kind, rules: [{ apiGroups: [kind.group], resources: [finalizers], verbs }] };
  const within = (
    { group, plural, namespaces }: FollowedKind,
    besides: FollowedKind["namespaces"],
  ): FollowedKind => {
    const all = namespaces ?? besides;
    return { group, plural, ...(all !== undefined && { namespaces: all }) };
  };
  return [
    own,
    owner,
    ...owns.map((owned) => ({
      kind: within(owned, isBeside(owned) && owned.acrossNamespaces !== true ? kind.namespaces : undefined),
      rules: childRules(owned),
    })),
    ...watches
      .filter(({ related }) => related === true)
      .map((related) => ({
        kind: within(related, isBeside(related) ? kind.namespaces : undefined),
        rules: relatedRules(related),
      })),
  ];
}

/** True if objects of a kind are in the namespaces of the objects that they belong to. */
const isBeside = ({ scope }: Pick<Watched, "scope">): boolean => scope === "Namespaced";

/** The accesses of a called function to objects of its kind, and to their children; none for a function that pulls. */
export function gatewayAccess(spec: ReconcileFunctionSpec): readonly Access[] {
  if (spec.delivery !== "webhook") return [];
  return rulesOfCalled(spec).flatMap(({ kind, rules }) =>
    (kind.namespaces ?? [undefined]).flatMap((namespace) => accessesOf(rules, namespace)),
  );
}
