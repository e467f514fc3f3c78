import type { ObjectKey } from "@drover/controller";
import type { MappedKeys } from "@drover/queue";

/** Who was named the last time, without Redis. */
export function memoryNamedKeys(): MappedKeys {
  const named = new Map<ObjectKey, readonly ObjectKey[]>();
  return {
    get: (key) => Promise.resolve(named.get(key) ?? []),
    store({ key }, keys) {
      named.set(key, keys);
      return Promise.resolve();
    },
  };
}
