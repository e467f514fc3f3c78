import type { Milliseconds, ObjectKey } from "@drover/controller";
import type { ResourceVersion, SeenChange, SeenObject } from "@drover/kube";

/** Longest time that a change is buffered. */
const maxDelay: Milliseconds = 200;
/** Most objects that are buffered. */
const maxBuffered = 1_000;

/**
 * A write-behind buffer of the seen index: each write to Redis waits for its disk, and the stream need not wait for
 * these. Nothing is lost with the buffer, because the events were emitted before, and a bridge that resumes at an older
 * position emits them again. Objects that are new to the index bypass it: a campaign that begins enumerates the index.
 */
export interface WriteBuffer {
  /** Buffers a change and returns undefined; or, if it must be written now, returns it with all buffered ones. */
  readonly add: (change: SeenChange) => SeenChange | undefined;
  /** Empties the buffer; returns the change to write, if any. */
  readonly drain: () => SeenChange | undefined;
  /** Discards the buffered changes. */
  readonly drop: () => void;
}

/**
 * @param before the last emitted state of an object, if it is at hand.
 * @param due called when the buffered changes are to be written.
 */
export function writeBuffer(
  before: (key: ObjectKey) => SeenObject | undefined,
  due: () => void,
): WriteBuffer {
  /** By key: the record to put; undefined for a key to remove. */
  const buffered = new Map<ObjectKey, SeenObject | undefined>();
  let position: ResourceVersion | undefined;
  let timer: NodeJS.Timeout | undefined;
  const drop = (): void => {
    clearTimeout(timer);
    timer = undefined;
    buffered.clear();
    position = undefined;
  };
  const drain = (): SeenChange | undefined => {
    if (buffered.size === 0 && position === undefined) return undefined;
    const put = [...buffered.values()].filter((seen) => seen !== undefined);
    const forget = [...buffered].flatMap(([key, seen]) => (seen === undefined ? [key] : []));
    const change = { put, forget, position, whole: false };
    drop();
    return change;
  };
  return {
    add(change) {
      const isUrgent = change.whole || change.put.some((seen) => isNew(seen, before(seen.key)));
      for (const seen of change.put) buffered.set(seen.key, seen);
      for (const key of change.forget) buffered.set(key, undefined);
      position = change.position ?? position;
      if (isUrgent || buffered.size > maxBuffered) return { ...nothing, ...drain(), whole: change.whole };
      timer ??= setTimeout(due, maxDelay).unref();
      return undefined;
    },
    drain,
    drop,
  };
}

/** True if a subscription gets the object for the first time. */
const isNew = ({ matched }: SeenObject, last: SeenObject | undefined): boolean =>
  last === undefined || !Object.keys(matched).every((id) => Object.hasOwn(last.matched, id));

const nothing: SeenChange = { put: [], forget: [], position: undefined, whole: false };
