/** What came of a number of tries. */
export interface Batches<T> {
  readonly done: readonly T[];
  /** The first that failed; undefined when all were done. */
  readonly refused: PromiseRejectedResult | undefined;
}

/**
 * Does something `count` times: once, then twice at once, then four times, for as long as all succeed. Where everything
 * will fail for the same reason, such as a quota, few tries find that out.
 */
export async function slowStart<T>(count: number, act: (index: number) => Promise<T>): Promise<Batches<T>> {
  const all: T[] = [];
  for (let begun = 0, size = 1; begun < count; begun += size, size *= 2) {
    const indexes = Array.from({ length: Math.min(size, count - begun) }, (_, i) => begun + i);
    const { done, refused } = await atOnce(indexes, act);
    all.push(...done);
    if (refused !== undefined) return { done: all, refused };
  }
  return { done: all, refused: undefined };
}

/** Does something with each, all at once. */
export async function atOnce<Item, T>(
  items: readonly Item[],
  act: (item: Item) => Promise<T>,
): Promise<Batches<T>> {
  const results = await Promise.allSettled(items.map((item) => act(item)));
  return {
    done: results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : [])),
    refused: results.find((result) => result.status === "rejected"),
  };
}
