import type { Milliseconds, ObjectKey } from "@drover/controller";
import type { ResourceVersion, SeenChange, SeenObject } from "@drover/kube";
import { isDeepStrictEqual } from "node:util";

/** How long a change that says nothing new may be kept. */
const keptFor: Milliseconds = 500;
/** So many objects are kept at most. */
const mostKept = 1_000;

/**
 * Changes of an index that say nothing new, kept until there is one that does: objects of the same meaning as before in a
 * newer version, as after each status that a controller writes, and positions. Who begins at an older one compares them
 * once more, and tells nobody.
 */
export interface QuietChanges {
  /** Keeps a change, unless it is to be written: answers that one, with all that was kept. */
  readonly take: (change: SeenChange) => SeenChange | undefined;
  /** All that is kept, to be written now. */
  readonly all: () => SeenChange | undefined;
  /** Nothing is to be written any more. */
  readonly drop: () => void;
}

/**
 * @param before what was written of an object last, where that is known.
 * @param due told when what is kept is to be written.
 */
export function quietChanges(
  before: (key: ObjectKey) => SeenObject | undefined,
  due: () => void,
): QuietChanges {
  const kept = new Map<ObjectKey, SeenObject>();
  let position: ResourceVersion | undefined;
  let timer: NodeJS.Timeout | undefined;
  const isQuiet = ({ put, forget, whole }: SeenChange): boolean =>
    !whole &&
    forget.length === 0 &&
    put.every((seen) => {
      const last = before(seen.key);
      return last?.uid === seen.uid && isDeepStrictEqual(last.meant, seen.meant);
    });
  const drop = (): void => {
    clearTimeout(timer);
    timer = undefined;
    kept.clear();
    position = undefined;
  };
  const withKept = (change: SeenChange): SeenChange => {
    const last = new Map([...kept, ...change.put.map((seen) => [seen.key, seen] as const)]);
    for (const key of change.forget) last.delete(key);
    const whole = { ...change, put: [...last.values()], position: change.position ?? position };
    drop();
    return whole;
  };
  return {
    take(change) {
      if (!isQuiet(change) || kept.size + change.put.length > mostKept) return withKept(change);
      for (const seen of change.put) kept.set(seen.key, seen);
      position = change.position ?? position;
      timer ??= setTimeout(due, keptFor).unref();
      return undefined;
    },
    all: () =>
      kept.size === 0 && position === undefined
        ? undefined
        : withKept({ put: [], forget: [], position: undefined, whole: false }),
    drop,
  };
}
