import { splitObjectKey } from "@drover/controller";
import { isObjectEvent, type ReflectorEvent } from "../reflector/change-events.ts";

/** The events of a reflector, as lines such as `added a@7`. */
export interface EventLog {
  readonly lines: readonly string[];
  onEvents(events: readonly ReflectorEvent[]): void;
  /** Adds lines of another form. */
  add(lines: readonly string[]): void;
  /** Resolves once that line was emitted. */
  emitted(line: string): Promise<void>;
  /** Resolves once that many lines were emitted. */
  count(lines: number): Promise<void>;
  /** Resolves once that many lists are complete. */
  lists(whole: number): Promise<void>;
}

export function eventLog(): EventLog {
  const lines: string[] = [];
  const watchers = new Set<() => void>();
  const until = (holds: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (!holds()) return;
        watchers.delete(look);
        resolve();
      };
      watchers.add(look);
      look();
    });
  const add = (more: readonly string[]): void => {
    lines.push(...more);
    watchers.forEach((look) => look());
  };
  return {
    lines,
    add,
    onEvents: (events) => add(events.map(lineOf)),
    emitted: (line) => until(() => lines.includes(line)),
    count: (wanted) => until(() => lines.length >= wanted),
    lists: (wanted) => until(() => lines.filter((line) => line.startsWith("synced")).length >= wanted),
  };
}

function lineOf(event: ReflectorEvent): string {
  if (!isObjectEvent(event)) return `${event.type} ${event.resourceVersion}`;
  const { name } = splitObjectKey(event.key);
  return `${event.type} ${name}@${event.resourceVersion}`;
}
