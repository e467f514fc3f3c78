import type { Milliseconds, ObjectKey } from "@drover/controller";
import type { ResourceVersion, SeenChange, SeenObject } from "@drover/kube";

/** Longest time that a change is buffered. */
const keptFor: Milliseconds = 200;
/** Most objects that are buffered. */
const mostKept = 1_000;

/**
 * A write-behind buffer of the seen index: each write to Redis waits for its disk, and the stream need not wait for
 * these. Nothing is lost with the buffer, because the events were emitted before, and a bridge that resumes at an older
 * position emits them again. Objects that are new to the index bypass it: a campaign that begins enumerates the index.
 */
export interface KeptChanges {
  /** Buffers a change and returns undefined; or, if it must be written now, returns it with all buffered ones. */
  readonly take: (change: SeenChange) => SeenChange | undefined;
  /** Empties the buffer; returns the change to write, if any. */
  readonly all: () => SeenChange | undefined;
  /** Discards the buffered changes. */
  readonly drop: () => void;
}

/**
 * @param before the last emitted state of an object, if it is at hand.
 * @param due called when the buffered changes are to be written.
 */
export function keptChanges(
  before: (key: ObjectKey) => SeenObject | undefined,
  due: () => void,
): KeptChanges {
  /** By key: the record to put; undefined for a key to remove. */
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

/** True if a subscription gets the object for the first time. */
const isNew = ({ meant }: SeenObject, last: SeenObject | undefined): boolean =>
  last === undefined || !Object.keys(meant).every((id) => Object.hasOwn(last.meant, id));

const nothing: SeenChange = { put: [], forget: [], position: undefined, whole: false };
