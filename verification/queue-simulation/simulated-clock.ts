import type { Timers } from "@drover/timers";

/** Whose timers they are: those of a process that stands still go off when it goes on. */
export interface TimerOwner {
  readonly frozen: boolean;
}

interface Alarm {
  readonly at: number;
  readonly what: string;
  readonly owner: TimerOwner;
  readonly callback: () => void;
}

/** The time that all processes of a schedule share, and their timers. It stands still until it is moved. */
export class SimulatedClock {
  now = 1_000_000;
  readonly #alarms = new Set<Alarm>();

  /** The clock of one process: it began at another time than the others'. */
  timersOf(owner: TimerOwner, ahead: number): Timers {
    return {
      now: () => this.now + ahead,
      after: (span, what, callback) => {
        const alarm = { at: this.now + span, what, owner, callback };
        this.#alarms.add(alarm);
        return () => void this.#alarms.delete(alarm);
      },
    };
  }

  /** Moves on to the next timer up to a time, and has it go off; false if there is none. */
  step(until: number): boolean {
    const due = [...this.#alarms].filter(({ at, owner }) => at <= until && !owner.frozen);
    const [first] = due.sort((a, b) => a.at - b.at);
    if (!first) return false;
    this.now = Math.max(this.now, first.at);
    this.#alarms.delete(first);
    first.callback();
    return true;
  }

  /** In how many ms the next timer goes off. */
  get next(): number | undefined {
    const all = [...this.#alarms].filter(({ owner }) => !owner.frozen).map(({ at }) => at);
    return all.length === 0 ? undefined : Math.max(0, Math.min(...all) - this.now);
  }

  /** What a process waits for. */
  waitsOf(owner: TimerOwner): readonly string[] {
    return [...this.#alarms].filter((alarm) => alarm.owner === owner).map(({ what }) => what);
  }

  /** The process is gone, and its timers with it. */
  forget(owner: TimerOwner): void {
    for (const alarm of this.#alarms) if (alarm.owner === owner) this.#alarms.delete(alarm);
  }
}
