import type { KeyReport, ListedState, WorkQueue } from "./work-queue.ts";

/** Keys read from Redis by one call. */
const perPage = 200;

/** The keys in a state, in the pages that `list` returns: no more than one page is in memory. */
export async function* listedPages(
  queue: Pick<WorkQueue, "list">,
  state: ListedState,
): AsyncGenerator<readonly KeyReport[], void, undefined> {
  let after: string | undefined;
  do {
    const { keys, next } = await queue.list(state, { after, limit: perPage });
    yield keys;
    after = next;
  } while (after !== undefined);
}
