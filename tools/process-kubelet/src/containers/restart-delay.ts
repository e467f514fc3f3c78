import type { Milliseconds } from "@drover/controller";

export interface BackOff {
  /** Before the first restart; doubled with each. */
  readonly first: Milliseconds;
  readonly most: Milliseconds;
}

/** How long a container waits for its next start: one that ran for twice the longest wait begins anew. */
export function restartDelay({ first, most }: BackOff): (ran: Milliseconds) => Milliseconds {
  let next = first;
  return (ran) => {
    const now = ran > 2 * most ? first : next;
    next = Math.min(now * 2, most);
    return now;
  };
}
