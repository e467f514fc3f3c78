import type { Milliseconds } from "@drover/controller";
import type { Timers } from "@drover/timers";

interface Alarm {
  readonly at: Milliseconds;
  readonly what: string;
  readonly callback: () => void;
}

/** A clock that stands still until a test moves it. */
export interface VirtualTimers extends Timers {
  /** Resolves with the span of the first wait of this name, once somebody waits so; at once if somebody does. */
  waitFor(what: string): Promise<Milliseconds>;
  /** Moves the clock on; whatever falls due on the way goes off, in order. */
  advance(span: Milliseconds): void;
}

export function virtualTimers(): VirtualTimers {
  let now = 0;
  const alarms = new Set<Alarm>();
  const watchers = new Set<() => void>();
  const first = (fits: (alarm: Alarm) => boolean): Alarm | undefined =>
    [...alarms].filter(fits).sort((a, b) => a.at - b.at)[0];
  return {
    now: () => now,
    after: (span, what, callback) => {
      const alarm = { at: now + span, what, callback };
      alarms.add(alarm);
      watchers.forEach((look) => look());
      return () => void alarms.delete(alarm);
    },
    waitFor: (what) =>
      new Promise((resolve) => {
        const look = (): void => {
          const alarm = first((one) => one.what === what);
          if (alarm === undefined) return;
          watchers.delete(look);
          resolve(alarm.at - now);
        };
        watchers.add(look);
        look();
      }),
    advance: (span) => {
      const end = now + span;
      for (;;) {
        const due = first(({ at }) => at <= end);
        if (due === undefined) break;
        now = Math.max(now, due.at);
        alarms.delete(due);
        due.callback();
      }
      now = end;
    },
  };
}
