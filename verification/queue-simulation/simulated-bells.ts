import type { Bell } from "../../packages/queue/src/bells.ts";

/** What the ledger needs of BullMQ, reduced to three words: bells are added, taken, and answered. */
export interface Bells {
  add(bells: readonly Bell[]): void;
  next(): Bell | undefined;
  done(bell: Bell): void;
}

/** Bells that a schedule can lose and double. */
export interface SimulatedBells extends Bells {
  /** Whether this bell still waits to be taken. */
  waits(bell: Bell): boolean;
  lose(): void;
  double(): void;
  readonly size: number;
  /** The most bells that waited at once for one key. */
  readonly mostOfOneKey: number;
}

export function simulatedBells(): SimulatedBells {
  const waiting: Bell[] = [];
  const same = (a: Bell) => (b: Bell) => a.key === b.key && a.number === b.number;
  let most = 0;
  return {
    add(bells) {
      // As BullMQ does, which drops a job whose id it knows.
      for (const bell of bells) if (!waiting.some(same(bell))) waiting.push(bell);
      for (const { key } of bells) most = Math.max(most, waiting.filter((bell) => bell.key === key).length);
    },
    next: () => waiting.shift(),
    done: () => undefined,
    waits: (bell) => waiting.some(same(bell)),
    lose: () => void waiting.splice(0, Math.ceil(waiting.length / 2)),
    double: () => void waiting.push(...waiting),
    get size() {
      return waiting.length;
    },
    get mostOfOneKey() {
      return most;
    },
  };
}
