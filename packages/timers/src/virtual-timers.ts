import type { Milliseconds } from "@drover/controller";
import type { CancelTimer, Timers } from "./timers.ts";

/** The process that timers belong to. Timers of a frozen process go off when it continues. */
export interface TimerOwner {
  readonly frozen: boolean;
}

interface VirtualTimer {
  readonly at: Milliseconds;
  readonly what: string;
  readonly owner: TimerOwner;
  readonly callback: () => void;
}

const noOwner: TimerOwner = { frozen: false };

/** A clock that stands still until a test moves it, and the timers of one or several processes. */
export class VirtualTimers implements Timers {
  #now: Milliseconds;
  readonly #alarms = new Set<VirtualTimer>();
  readonly #watchers = new Set<() => void>();

  constructor(from: Milliseconds = 0) {
    this.#now = from;
  }

  now(): Milliseconds {
    return this.#now;
  }

  after(span: Milliseconds, what: string, callback: () => void): CancelTimer {
    return this.#arm({ at: this.#now + span, what, owner: noOwner, callback });
  }

  /** The clock of one process, `ahead` ms ahead of this clock: processes start at different times. */
  timersOf(owner: TimerOwner, ahead: Milliseconds): Timers {
    return {
      now: () => this.#now + ahead,
      after: (span, what, callback) => this.#arm({ at: this.#now + span, what, owner, callback }),
    };
  }

  /** Resolves with the remaining time of the first wait with this name, as soon as there is one. */
  waitFor(what: string): Promise<Milliseconds> {
    return new Promise((resolve) => {
      const look = (): void => {
        const alarm = this.#first((one) => one.what === what);
        if (alarm === undefined) return;
        this.#watchers.delete(look);
        resolve(alarm.at - this.#now);
      };
      this.#watchers.add(look);
      look();
    });
  }

  /** Moves the clock forward; timers that become due on the way go off, in order. */
  advance(span: Milliseconds): void {
    const end = this.#now + span;
    while (this.step(end));
    this.#now = end;
  }

  /** Moves to the next timer that is due by `until`, and fires it. Without one, moves to `until` and returns false. */
  step(until: Milliseconds): boolean {
    const due = this.#first(({ at, owner }) => at <= until && !owner.frozen);
    this.#now = Math.max(this.#now, due?.at ?? until);
    if (due === undefined) return false;
    this.#alarms.delete(due);
    due.callback();
    return true;
  }

  /** Milliseconds until the next timer goes off; undefined if there is none. */
  get next(): Milliseconds | undefined {
    const first = this.#first(({ owner }) => !owner.frozen);
    return first && Math.max(0, first.at - this.#now);
  }

  /** The names of a process's waits. */
  waitsOf(owner: TimerOwner): readonly string[] {
    return [...this.#alarms].filter((alarm) => alarm.owner === owner).map(({ what }) => what);
  }

  /** Removes the timers of a process that has ended. */
  forget(owner: TimerOwner): void {
    for (const alarm of this.#alarms) if (alarm.owner === owner) this.#alarms.delete(alarm);
  }

  #arm(alarm: VirtualTimer): CancelTimer {
    this.#alarms.add(alarm);
    this.#watchers.forEach((look) => look());
    return () => void this.#alarms.delete(alarm);
  }

  #first(fits: (alarm: VirtualTimer) => boolean): VirtualTimer | undefined {
    return [...this.#alarms].filter(fits).sort((a, b) => a.at - b.at)[0];
  }
}
