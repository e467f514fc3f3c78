import type { Milliseconds } from "@drover/controller";
import { now } from "../queue-chaos/clock.ts";
import type { Fact, Happening } from "./oracle/facts.ts";

/** What happened in one schedule, in the order in which it came here. Nothing is ever changed or taken out. */
export interface Journal {
  readonly facts: readonly Fact[];
  note(happening: Happening): void;
  /** Told of each fact from now on. */
  follow(see: (fact: Fact) => void): void;
  /** Resolves with true as soon as the condition holds, looked at after each fact; with false after `atMost`. */
  until(condition: () => boolean, atMost: Milliseconds): Promise<boolean>;
}

export function openJournal(): Journal {
  const facts: Fact[] = [];
  const followers = new Set<(fact: Fact) => void>();
  return {
    facts,
    follow: (see) => void followers.add(see),
    note(happening) {
      const fact = { at: now(), ...happening };
      facts.push(fact);
      for (const see of [...followers]) see(fact);
    },
    until(condition, atMost) {
      if (condition()) return Promise.resolve(true);
      return new Promise((resolve) => {
        const done = (holds: boolean): void => {
          clearTimeout(timer);
          followers.delete(look);
          resolve(holds);
        };
        const timer = setTimeout(() => done(condition()), atMost);
        const look = (): void => {
          if (condition()) done(true);
        };
        followers.add(look);
      });
    },
  };
}
