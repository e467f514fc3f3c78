import type { FollowedKind } from "@drover/controller";
import { boundRole } from "./bound-role.ts";
import type { FunctionObject } from "../objects/function-object.ts";
import {
  type FunctionRef,
  ownedMetadataElsewhere,
  ownedClusterMetadata,
  type ServiceAccountRef,
} from "../function-ref.ts";

export interface ScopedRolesOptions {
  /** The name of every Role, ClusterRole and binding. */
  readonly name: string;
  readonly account: ServiceAccountRef;
  /** The rules that the account gets for some of the kinds. */
  readonly rulesFor: (kinds: readonly FollowedKind[]) => readonly object[];
  /**
   * The label that aggregates the ClusterRole into one that the account has. If absent, the ClusterRole is bound to the
   * account.
   */
  readonly aggregatedBy?: string;
}

/**
 * The roles that give an account permissions on kinds of a function: Roles in the namespaces that a kind names, and a
 * ClusterRole only for kinds that name none.
 */
export function scopedRoles(
  functionRef: FunctionRef,
  kinds: readonly FollowedKind[],
  { name, account, rulesFor, aggregatedBy }: ScopedRolesOptions,
): readonly FunctionObject[] {
  const everywhere = kinds.filter(({ namespaces }) => namespaces === undefined);
  const named = new Set(kinds.flatMap(({ namespaces = [] }) => namespaces));
  const inCluster = ownedClusterMetadata(
    functionRef,
    name,
    aggregatedBy === undefined ? {} : { [aggregatedBy]: "true" },
  );
  const [clusterRole, binding] = boundRole(inCluster, rulesFor(everywhere), account, {
    wanted: everywhere.length > 0,
  });
  return [
    clusterRole,
    ...(aggregatedBy === undefined ? [binding] : []),
    ...[...named].sort().flatMap((namespace) => {
      const rules = rulesFor(kinds.filter(({ namespaces }) => namespaces?.includes(namespace)));
      const metadata = ownedMetadataElsewhere(functionRef, namespace, name);
      return boundRole(metadata, rules, account, { wanted: true, elsewhere: true });
    }),
  ];
}
