import type { Milliseconds } from "@drover/controller";
import type { CancelTimer, Timers } from "./timers.ts";

/** Whose timers they are: those of a process that stands still go off when it goes on. */
export interface TimerOwner {
  readonly frozen: boolean;
}

interface Alarm {
  readonly at: Milliseconds;
  readonly what: string;
  readonly owner: TimerOwner;
  readonly callback: () => void;
}

const everybody: TimerOwner = { frozen: false };

/** A clock that stands still until a test moves it, and the timers that go by it: of one process, or of several. */
export class VirtualClock implements Timers {
  #now: Milliseconds;
  readonly #alarms = new Set<Alarm>();
  readonly #watchers = new Set<() => void>();

  constructor(from: Milliseconds = 0) {
    this.#now = from;
  }

  now(): Milliseconds {
    return this.#now;
  }

  after(span: Milliseconds, what: string, callback: () => void): CancelTimer {
    return this.#arm({ at: this.#now + span, what, owner: everybody, callback });
  }

  /** The clock of one process: it began at another time than the others'. */
  timersOf(owner: TimerOwner, ahead: Milliseconds): Timers {
    return {
      now: () => this.#now + ahead,
      after: (span, what, callback) => this.#arm({ at: this.#now + span, what, owner, callback }),
    };
  }

  /** Resolves with the span of the first wait of this name, once somebody waits so; at once if somebody does. */
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

  /** Moves the clock on; whatever falls due on the way goes off, in order. */
  advance(span: Milliseconds): void {
    const end = this.#now + span;
    while (this.step(end));
    this.#now = end;
  }

  /** Moves on to the next timer up to a time, and has it go off; to that time, and answers false, if there is none. */
  step(until: Milliseconds): boolean {
    const due = this.#first(({ at, owner }) => at <= until && !owner.frozen);
    this.#now = Math.max(this.#now, due?.at ?? until);
    if (due === undefined) return false;
    this.#alarms.delete(due);
    due.callback();
    return true;
  }

  /** In how many ms the next timer goes off. */
  get next(): Milliseconds | undefined {
    const first = this.#first(({ owner }) => !owner.frozen);
    return first && Math.max(0, first.at - this.#now);
  }

  /** What a process waits for. */
  waitsOf(owner: TimerOwner): readonly string[] {
    return [...this.#alarms].filter((alarm) => alarm.owner === owner).map(({ what }) => what);
  }

  /** The process is gone, and its timers with it. */
  forget(owner: TimerOwner): void {
    for (const alarm of this.#alarms) if (alarm.owner === owner) this.#alarms.delete(alarm);
  }

  #arm(alarm: Alarm): CancelTimer {
    this.#alarms.add(alarm);
    this.#watchers.forEach((look) => look());
    return () => void this.#alarms.delete(alarm);
  }

  #first(fits: (alarm: Alarm) => boolean): Alarm | undefined {
    return [...this.#alarms].filter(fits).sort((a, b) => a.at - b.at)[0];
  }
}
