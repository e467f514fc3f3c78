import { setTimeout as delay } from "node:timers/promises";
import type { Handler, Outcome } from "../contenders/contender.ts";
import { now } from "../../../verification/harness/clock.ts";
import type { Handling, Report } from "./messages.ts";

/** The runs of this process that hang. */
const held = new Map<string, (outcome: Outcome) => void>();

/** Ends a run that hangs. */
export function finish(key: string, outcome: Outcome): void {
  held.get(key)?.(outcome);
  held.delete(key);
}

/** The runs of a bench process. `counted` is called for each. */
export function handlerFor(
  handling: Handling,
  counted: () => void,
  send: (...report: Report) => void,
): Handler {
  let unreported = 0;
  const reportRuns = (): void => {
    send("ran", unreported);
    unreported = 0;
  };
  switch (handling.kind) {
    case "count":
      return () => {
        counted();
        if (handling.report && (unreported += 1) === 1) setImmediate(reportRuns);
        return Promise.resolve("done");
      };
    case "announce":
      return async (key) => {
        counted();
        send("started", { key, at: now() });
        if (handling.lasts > 0) await delay(handling.lasts);
        return "done";
      };
    case "hold":
      return async (key) => {
        const at = now();
        counted();
        const outcome = await new Promise<Outcome>((resolve) => {
          held.set(key, resolve);
          send("started", { key, at });
        });
        send("ended", { key, at: now() });
        return outcome;
      };
  }
}
