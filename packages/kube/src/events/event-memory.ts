import type { Milliseconds, ObjectKey } from "@drover/controller";
import { identityOf, type RecordedEvent, type Series } from "./recorded-event.ts";

/** An event that was recorded once or more. */
export interface Told {
  readonly event: RecordedEvent;
  series: Series;
  /** The key of the Event object; undefined before it was written. */
  key: ObjectKey | undefined;
  /** The count that was written. */
  written: number;
  /** When it was last recorded, and when a write was last attempted. */
  toldAt: Milliseconds;
  triedAt: Milliseconds;
}

/** The events that were recorded recently, each once. */
export interface EventMemory {
  tell(event: RecordedEvent, toldAt: Milliseconds, at: Date): void;
  forget(told: Told): void;
  /** A copy of the events in memory, the least recently recorded first. */
  all(): readonly Told[];
}

/**
 * An event that is recorded again within this time is counted on the same Event. Kubernetes deletes Events after an
 * hour.
 */
export const sameWithin: Milliseconds = 10 * 60_000;

export const isUnwritten = ({ series, written }: Told): boolean => series.count > written;

/** @param most events in memory; beyond that, the least recently recorded one is dropped. */
export function eventMemory(most: number): EventMemory {
  const memory = new Map<string, Told>();
  return {
    tell: (event, toldAt, at) => {
      const identity = identityOf(event);
      const known = memory.get(identity);
      // Moved to the end: a Map keeps the order of insertion.
      memory.delete(identity);
      if (known !== undefined && toldAt - known.toldAt <= sameWithin) {
        known.series = { ...known.series, count: known.series.count + 1, last: at };
        known.toldAt = toldAt;
        memory.set(identity, known);
        return;
      }
      const series = { count: 1, first: at, last: at };
      memory.set(identity, { event, series, key: undefined, written: 0, toldAt, triedAt: -Infinity });
      const [oldest] = memory.keys();
      if (memory.size > most && oldest !== undefined) memory.delete(oldest);
    },
    forget: ({ event }) => void memory.delete(identityOf(event)),
    all: () => [...memory.values()],
  };
}
