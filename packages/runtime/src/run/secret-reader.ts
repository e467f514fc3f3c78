import { objectKey, type ObjectKey, splitObjectKey } from "@drover/controller";
import { type KubeClient, readSecret } from "@drover/kube";

/**
 * Reads Secrets in the namespace of the run's object, and in no other: an object must not get the Secrets of other
 * namespaces. Reads live, and keeps nothing.
 */
export function secretReader(client: KubeClient, key: ObjectKey, signal: AbortSignal) {
  return async (name: string): Promise<Readonly<Record<string, string>> | undefined> => {
    const { namespace } = splitObjectKey(key);
    if (namespace === undefined) throw new NoNamespaceError(key);
    return readSecret(client, objectKey({ namespace, name }), { signal });
  };
}

/** A cluster-scoped object has no namespace to read Secrets from. */
export class NoNamespaceError extends Error {
  override readonly name = "NoNamespaceError";
  constructor(key: ObjectKey) {
    super(`${key} is cluster-scoped: there is no namespace to read Secrets from. Make its kind namespaced.`);
  }
}
