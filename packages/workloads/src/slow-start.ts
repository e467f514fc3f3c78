/** The results of several attempts. */
export interface BatchResult<T> {
  readonly done: readonly T[];
  /** The first that failed; undefined if all succeeded. */
  readonly firstFailure: PromiseRejectedResult | undefined;
}

/**
 * Calls `act` `count` times: once, then twice at once, then four times, as long as all succeed. If every call would
 * fail for the same reason, such as a quota, only a few calls are made.
 */
export async function slowStart<T>(
  count: number,
  act: (index: number) => Promise<T>,
): Promise<BatchResult<T>> {
  const all: T[] = [];
  for (let begun = 0, size = 1; begun < count; begun += size, size *= 2) {
    const indexes = Array.from({ length: Math.min(size, count - begun) }, (_, i) => begun + i);
    const { done, firstFailure } = await allAtOnce(indexes, act);
    all.push(...done);
    if (firstFailure !== undefined) return { done: all, firstFailure };
  }
  return { done: all, firstFailure: undefined };
}

/** Calls `act` for each item, all at once. */
export async function allAtOnce<Item, T>(
  items: readonly Item[],
  act: (item: Item) => Promise<T>,
): Promise<BatchResult<T>> {
  const results = await Promise.allSettled(items.map((item) => act(item)));
  return {
    done: results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : [])),
    firstFailure: results.find((result) => result.status === "rejected"),
  };
}
