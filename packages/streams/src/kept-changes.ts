import type { Milliseconds, ObjectKey } from "@drover/controller";
import type { ResourceVersion, SeenChange, SeenObject } from "@drover/kube";

/** How long a change is kept at most. */
const keptFor: Milliseconds = 200;
/** So many objects are kept at most. */
const mostKept = 1_000;

/**
 * Changes of an index, kept for a moment: each write of Redis waits for its disk, and nobody needs to wait for these. They
 * were told before, and whoever begins at an older position tells them again. Not so what the index does not have yet: a
 * campaign that begins looks for its objects there.
 */
export interface KeptChanges {
  /** Keeps a change, unless it is to be written: answers that one, with all that was kept. */
  readonly take: (change: SeenChange) => SeenChange | undefined;
  /** All that is kept, to be written now. */
  readonly all: () => SeenChange | undefined;
  /** Nothing is to be written any more. */
  readonly drop: () => void;
}

/**
 * @param before what an object was told as last, where that is known.
 * @param due told when what is kept is to be written.
 */
export function keptChanges(
  before: (key: ObjectKey) => SeenObject | undefined,
  due: () => void,
): KeptChanges {
  /** By key, what is to be put; nothing where it is to be forgotten. */
  const kept = new Map<ObjectKey, SeenObject | undefined>();
  let position: ResourceVersion | undefined;
  let timer: NodeJS.Timeout | undefined;
  const drop = (): void => {
    clearTimeout(timer);
    timer = undefined;
    kept.clear();
    position = undefined;
  };
  const all = (): SeenChange | undefined => {
    if (kept.size === 0 && position === undefined) return undefined;
    const put = [...kept.values()].filter((seen) => seen !== undefined);
    const forget = [...kept].flatMap(([key, seen]) => (seen === undefined ? [key] : []));
    const change = { put, forget, position, whole: false };
    drop();
    return change;
  };
  return {
    take(change) {
      const isUrgent = change.whole || change.put.some((seen) => isNew(seen, before(seen.key)));
      for (const seen of change.put) kept.set(seen.key, seen);
      for (const key of change.forget) kept.set(key, undefined);
      position = change.position ?? position;
      if (isUrgent || kept.size > mostKept) return { ...nothing, ...all(), whole: change.whole };
      timer ??= setTimeout(due, keptFor).unref();
      return undefined;
    },
    all,
    drop,
  };
}

/** To anybody. */
const isNew = ({ meant }: SeenObject, last: SeenObject | undefined): boolean =>
  last === undefined || !Object.keys(meant).every((id) => Object.hasOwn(last.meant, id));

const nothing: SeenChange = { put: [], forget: [], position: undefined, whole: false };
