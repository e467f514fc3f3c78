import type { Milliseconds, ObjectKey } from "@drover/controller";
import { eventIdentity, type RecordedEvent, type Series } from "./recorded-event.ts";

/** An event that was recorded once or more. */
export interface RememberedEvent {
  readonly event: RecordedEvent;
  series: Series;
  /** The key of the Event object; undefined before it was written. */
  key: ObjectKey | undefined;
  /** The count that was written. */
  written: number;
  /** When it was last recorded, and when a write was last attempted. */
  recordedAt: Milliseconds;
  triedAt: Milliseconds;
}

/** The events that were recorded recently, each once. */
export interface EventMemory {
  record(event: RecordedEvent, recordedAt: Milliseconds, at: Date): void;
  forget(event: RememberedEvent): void;
  /** A copy of the events in memory, the least recently recorded first. */
  all(): readonly RememberedEvent[];
}

/**
 * An event that is recorded again within this time is counted on the same Event. Kubernetes deletes Events after an
 * hour.
 */
export const repeatWindow: Milliseconds = 10 * 60_000;

export const isUnwritten = ({ series, written }: RememberedEvent): boolean => series.count > written;

/** @param most events in memory; beyond that, the least recently recorded one is dropped. */
export function eventMemory(most: number): EventMemory {
  const memory = new Map<string, RememberedEvent>();
  return {
    record: (event, recordedAt, at) => {
      const identity = eventIdentity(event);
      const known = memory.get(identity);
      // Moved to the end: a Map keeps the order of insertion.
      memory.delete(identity);
      if (known !== undefined && recordedAt - known.recordedAt <= repeatWindow) {
        known.series = { ...known.series, count: known.series.count + 1, last: at };
        known.recordedAt = recordedAt;
        memory.set(identity, known);
        return;
      }
      const series = { count: 1, first: at, last: at };
      memory.set(identity, { event, series, key: undefined, written: 0, recordedAt, triedAt: -Infinity });
      const [oldest] = memory.keys();
      if (memory.size > most && oldest !== undefined) memory.delete(oldest);
    },
    forget: ({ event }) => void memory.delete(eventIdentity(event)),
    all: () => [...memory.values()],
  };
}
