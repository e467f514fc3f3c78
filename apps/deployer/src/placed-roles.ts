import type { FollowedKind } from "@drover/controller";
import { builtin } from "@drover/kube";
import type { FunctionObject } from "./function-objects.ts";
import { type Home, ownedElsewhere, ownedInCluster, type PartAccount, roleRefOf } from "./home.ts";

export interface PlacedRoles {
  /** Of all of them. */
  readonly name: string;
  readonly account: PartAccount;
  /** What the account may do with some of the kinds. */
  readonly rulesFor: (kinds: readonly FollowedKind[]) => readonly object[];
  /** The label by which the ClusterRole is added to one that the account has. Left out: it is bound to the account. */
  readonly aggregatedBy?: string;
}

/**
 * The rights of an account on kinds of a function: Roles in the namespaces that a kind names, and a ClusterRole only for
 * kinds that name none.
 */
export function placedRoles(
  home: Home,
  kinds: readonly FollowedKind[],
  { name, account, rulesFor, aggregatedBy }: PlacedRoles,
): readonly FunctionObject[] {
  const everywhere = kinds.filter(({ namespaces }) => namespaces === undefined);
  const named = new Set(kinds.flatMap(({ namespaces = [] }) => namespaces));
  const subjects = [{ kind: "ServiceAccount", ...account }];
  const inCluster = ownedInCluster(home, name, aggregatedBy === undefined ? {} : { [aggregatedBy]: "true" });
  const wanted = everywhere.length > 0;
  return [
    { ref: builtin.clusterRole, object: { metadata: inCluster, rules: rulesFor(everywhere) }, wanted },
    ...(aggregatedBy === undefined
      ? [
          {
            ref: builtin.clusterRoleBinding,
            object: { metadata: inCluster, subjects, roleRef: roleRefOf(builtin.clusterRole, name) },
            wanted,
          },
        ]
      : []),
    ...[...named].sort().flatMap((namespace): readonly FunctionObject[] => {
      const metadata = ownedElsewhere(home, namespace, name);
      const rules = rulesFor(kinds.filter(({ namespaces }) => namespaces?.includes(namespace)));
      const roleRef = roleRefOf(builtin.role, name);
      return [
        { ref: builtin.role, object: { metadata, rules }, wanted: true, elsewhere: true },
        { ref: builtin.roleBinding, object: { metadata, subjects, roleRef }, wanted: true, elsewhere: true },
      ];
    }),
  ];
}
