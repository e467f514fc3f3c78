/** What came of a number of tries. */
export interface Batches<T> {
  readonly done: readonly T[];
  /** Why no more were tried; undefined when all were done. */
  readonly failure: unknown;
  readonly failed: boolean;
}

/**
 * Does something `count` times: once, then twice at once, then four times, for as long as all succeed. Where everything
 * will fail for the same reason, such as a quota, few tries find that out.
 */
export async function slowStart<T>(count: number, act: (index: number) => Promise<T>): Promise<Batches<T>> {
  const done: T[] = [];
  for (let begun = 0, size = 1; begun < count; begun += size, size *= 2) {
    const batch = Array.from({ length: Math.min(size, count - begun) }, (_, i) => act(begun + i));
    const results = await Promise.allSettled(batch);
    for (const result of results) if (result.status === "fulfilled") done.push(result.value);
    const refused = results.find((result) => result.status === "rejected");
    if (refused !== undefined) return { done, failure: refused.reason, failed: true };
  }
  return { done, failure: undefined, failed: false };
}
