import type { Milliseconds, ObjectKey } from "@drover/controller";
import { identityOf, type RecordedEvent, type Series } from "./recorded-event.ts";

/** An event that was told once or more. */
export interface Told {
  readonly event: RecordedEvent;
  series: Series;
  /** Where it was written; undefined before. */
  key: ObjectKey | undefined;
  /** The count that was written. */
  written: number;
  /** When it was last told, and when a write was last tried. */
  toldAt: Milliseconds;
  triedAt: Milliseconds;
}

/** What was told lately, each event once. */
export interface EventMemory {
  tell(event: RecordedEvent, toldAt: Milliseconds, at: Date): void;
  forget(told: Told): void;
  /** What it holds now, told longest ago first; a copy. */
  all(): readonly Told[];
}

/** Told again within this time, it is the same event. Kubernetes itself forgets Events after an hour. */
export const sameWithin: Milliseconds = 10 * 60_000;

export const isUnwritten = ({ series, written }: Told): boolean => series.count > written;

/** @param most events that are remembered; the one told longest ago makes room. */
export function eventMemory(most: number): EventMemory {
  const memory = new Map<string, Told>();
  return {
    tell: (event, toldAt, at) => {
      const identity = identityOf(event);
      const known = memory.get(identity);
      // Put at the end: a Map keeps its order.
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
