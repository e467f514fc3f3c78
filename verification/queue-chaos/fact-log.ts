import type { Milliseconds } from "@drover/controller";
import { now } from "./clock.ts";
import type { Fact, Happening } from "./oracle/facts.ts";

/** What happened, in the order in which it came here. Nothing is ever changed or taken out. */
export interface FactLog {
  readonly facts: readonly Fact[];
  note(happening: Happening): void;
  /** Told of each fact from now on. Answers the function that ends it. */
  follow(see: (fact: Fact) => void): () => void;
  /** Resolves with true as soon as the condition holds, looked at after each fact; with false after `atMost`. */
  until(condition: () => boolean, atMost: Milliseconds): Promise<boolean>;
}

export function openFactLog(): FactLog {
  const facts: Fact[] = [];
  const followers = new Set<(fact: Fact) => void>();
  const follow = (see: (fact: Fact) => void): (() => void) => {
    followers.add(see);
    return () => followers.delete(see);
  };
  return {
    facts,
    follow,
    note(happening) {
      const fact = { at: now(), ...happening };
      facts.push(fact);
      for (const see of followers) see(fact);
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
