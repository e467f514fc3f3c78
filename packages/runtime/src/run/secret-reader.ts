import { objectKey, type ObjectKey, splitObjectKey } from "@drover/controller";
import { builtin, type KubeClient } from "@drover/kube";
import { z } from "zod";

const secretSchema = z.object({ data: z.record(z.string(), z.base64()).nullish() });

/**
 * Reads Secrets in the namespace of the run's object, and in no other: an object must not get the Secrets of other
 * namespaces. Reads live, and keeps nothing.
 */
export function secretReader(client: KubeClient, key: ObjectKey, signal: AbortSignal) {
  return async (name: string): Promise<Readonly<Record<string, string>> | undefined> => {
    const { namespace } = splitObjectKey(key);
    if (namespace === undefined) throw new NoNamespaceError(key);
    const secret = await client.get(builtin.secret, objectKey({ namespace, name }), { signal });
    if (secret === undefined) return undefined;
    const data = Object.entries(secretSchema.parse(secret).data ?? {});
    return Object.fromEntries(
      data.map(([field, value]) => [field, Buffer.from(value, "base64").toString("utf8")]),
    );
  };
}

/** A cluster-scoped object has no namespace to read Secrets from. */
export class NoNamespaceError extends Error {
  override readonly name = "NoNamespaceError";
  constructor(key: ObjectKey) {
    super(`${key} is cluster-scoped: there is no namespace to read Secrets from. Make its kind namespaced.`);
  }
}
