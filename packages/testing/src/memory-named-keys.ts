import type { ObjectKey } from "@drover/controller";
import type { NamedKeys } from "@drover/queue";

/** Who was named the last time, without Redis. */
export function memoryNamedKeys(): NamedKeys {
  const named = new Map<ObjectKey, readonly ObjectKey[]>();
  return {
    of: (key) => Promise.resolve(named.get(key) ?? []),
    remember({ key }, keys) {
      named.set(key, keys);
      return Promise.resolve();
    },
  };
}
