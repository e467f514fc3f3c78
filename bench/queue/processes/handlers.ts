import { setTimeout as delay } from "node:timers/promises";
import type { Handler, Outcome } from "../contenders/contender.ts";
import { now } from "../../../verification/harness/clock.ts";
import type { Handling, Report } from "./messages.ts";

export interface Handlers {
  readonly handler: Handler;
  /** Ends a run that hangs. */
  finish(key: string, outcome: Outcome): void;
}

/** What the runs of a bench process do. `counted` is called for each. */
export function handlersFor(
  handling: Handling,
  counted: () => void,
  send: (report: Report) => void,
): Handlers {
  switch (handling.kind) {
    case "count":
      return { handler: handling.report ? counting(counted, send) : silently(counted), finish: () => {} };
    case "announce":
      return { handler: announcing(handling.lasts, counted, send), finish: () => {} };
    case "hold":
      return holding(counted, send);
  }
}

function silently(counted: () => void): Handler {
  return () => {
    counted();
    return Promise.resolve("done");
  };
}

function counting(counted: () => void, send: (report: Report) => void): Handler {
  let unsaid = 0;
  return () => {
    counted();
    if ((unsaid += 1) === 1) {
      setImmediate(() => {
        send({ report: "ran", runs: unsaid });
        unsaid = 0;
      });
    }
    return Promise.resolve("done");
  };
}

function announcing(lasts: number, counted: () => void, send: (report: Report) => void): Handler {
  return async (key) => {
    const at = now();
    counted();
    send({ report: "started", key, at });
    if (lasts > 0) await delay(lasts);
    return "done";
  };
}

function holding(counted: () => void, send: (report: Report) => void): Handlers {
  const held = new Map<string, (outcome: Outcome) => void>();
  return {
    handler: async (key) => {
      const at = now();
      counted();
      const outcome = await new Promise<Outcome>((resolve) => {
        held.set(key, resolve);
        send({ report: "started", key, at });
      });
      send({ report: "ended", key, at: now() });
      return outcome;
    },
    finish(key, outcome) {
      held.get(key)?.(outcome);
      held.delete(key);
    },
  };
}
