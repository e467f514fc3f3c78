import { type ObjectKey, tryObjectKey } from "./object-key.ts";
import type { ResourceRef } from "./object-client.ts";

/**
 * A value is a name in the object's own namespace. A namespaced object may name `namespace/name`, or a cluster-scoped
 * object, only with `acrossNamespaces`: a user that may write in one namespace must not have an effect in another one.
 * A cluster-scoped object may name any object.
 */
export interface Reach {
  readonly acrossNamespaces?: boolean | undefined;
}

/**
 * The keys that values of an object name, without duplicates. Each value is a name, `namespace/name`, or an object with
 * `name` and `namespace`. A value that cannot be a key is ignored.
 *
 * @param namespace of the object that has the values; undefined if it is cluster-scoped.
 */
export function keysNamedBy(
  { namespace }: { readonly namespace?: string | undefined },
  values: readonly unknown[],
  target: Pick<ResourceRef, "namespaced">,
  { acrossNamespaces = false }: Reach,
): readonly ObjectKey[] {
  const free = acrossNamespaces || namespace === undefined;
  const keys = values.flatMap((value) => {
    const named = nameIn(value);
    if (named === undefined) return [];
    if (!target.namespaced) return free ? (tryObjectKey({ name: named.name }) ?? []) : [];
    const { namespace: where = namespace, name } = named;
    return where !== undefined && (free || where === namespace)
      ? (tryObjectKey({ namespace: where, name }) ?? [])
      : [];
  });
  return [...new Set(keys)];
}

interface Named {
  readonly namespace?: string;
  readonly name: string;
}

function nameIn(value: unknown): Named | undefined {
  if (typeof value === "string") {
    const slash = value.indexOf("/");
    return slash < 0 ? { name: value } : { namespace: value.slice(0, slash), name: value.slice(slash + 1) };
  }
  if (typeof value !== "object" || value === null || !("name" in value)) return undefined;
  const { name } = value;
  const namespace = "namespace" in value ? value.namespace : undefined;
  if (typeof name !== "string") return undefined;
  return typeof namespace === "string" && namespace !== "" ? { namespace, name } : { name };
}
