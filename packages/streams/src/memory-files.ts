import type { ObjectKey } from "@drover/controller";
import { isMeant } from "@drover/kube";
import type { Files } from "./files.ts";
import type { Filed } from "./stream-store.ts";

/** Reverse indexes in memory. */
export interface MemoryFiles extends Files {
  /** Replaces the entries of these objects. An object without entries is removed. */
  file(filed: readonly Filed[]): void;
}

/** Reverse indexes without Redis, for tests of functions. A subscription has one index; its stream is ignored. */
export function memoryFiles(): MemoryFiles {
  const byKey = new Map<ObjectKey, Filed["files"]>();
  return {
    async *find({ file }, questions) {
      for (const question of questions) {
        const { sought } = question;
        const keys = [...byKey].flatMap(([key, { [file]: terms = [] }]) =>
          terms.some(({ term, note }) => sought.includes(term) && isMeant(sought, note)) ? [key] : [],
        );
        yield await Promise.resolve({ question, keys });
      }
    },
    file(filed) {
      for (const { key, files } of filed) {
        if (Object.values(files).every((terms) => terms.length === 0)) byKey.delete(key);
        else byKey.set(key, files);
      }
    },
  };
}
