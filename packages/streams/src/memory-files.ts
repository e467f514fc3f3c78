import type { ObjectKey } from "@drover/controller";
import { isMeant } from "@drover/kube";
import type { Files } from "./files.ts";
import type { Filed } from "./stream-store.ts";

/** Files that are gone with the process. */
export interface MemoryFiles extends Files {
  /** Files these objects anew; of those before them nothing is left. One with no files is taken out of all. */
  file(filed: readonly Filed[]): void;
}

/** Files without Redis, for tests of functions. A file belongs to one subscription, so its stream need not be told. */
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
