import type { Milliseconds } from "@drover/controller";
import { now } from "./clock.ts";

/** An entry of a log: an event, and when it came here. */
export type Timed<Event> = Event & { readonly at: Milliseconds };

/** The events of one schedule, in the order in which they came here. An oracle reads them; no entry is changed or removed. */
export interface EventLog<Event> {
  readonly facts: readonly Timed<Event>[];
  note(event: Event): void;
  /** Calls `see` for each event from now on, until the returned function is called. */
  follow(see: (fact: Timed<Event>) => void): () => void;
  /** Resolves with true as soon as the condition holds, checked after each event; with false after `atMost`. */
  until(condition: () => boolean, atMost: Milliseconds): Promise<boolean>;
}

/** Opens an empty log. Its times are those of {@link now}. */
export function openEventLog<Event extends object>(): EventLog<Event> {
  const facts: Timed<Event>[] = [];
  const followers = new Set<(fact: Timed<Event>) => void>();
  const follow = (see: (fact: Timed<Event>) => void): (() => void) => {
    followers.add(see);
    return () => followers.delete(see);
  };
  return {
    facts,
    follow,
    note(event) {
      const fact = { at: now(), ...event };
      facts.push(fact);
      for (const see of [...followers]) see(fact);
    },
    until(condition, atMost) {
      if (condition()) return Promise.resolve(true);
      return new Promise((resolve) => {
        const done = (holds: boolean): void => {
          clearTimeout(timer);
          unfollow();
          resolve(holds);
        };
        const timer = setTimeout(() => done(condition()), atMost);
        const unfollow = follow(() => {
          if (condition()) done(true);
        });
      });
    },
  };
}
