import type { Log, Milliseconds } from "@drover/controller";

/** Warns of one thing at most once in a while, and then says how often it was. */
export type SparingWarnings = (what: string, fields: object, message: string) => void;

/** @param every shortest time between two warnings of one thing. `what` is one of few. */
export function sparingWarnings(log: Log, every: Milliseconds, now: () => Milliseconds): SparingWarnings {
  const last = new Map<string, { at: Milliseconds; unsaid: number }>();
  return (what, fields, message) => {
    const before = last.get(what);
    if (before !== undefined && now() - before.at < every) {
      before.unsaid++;
      return;
    }
    last.set(what, { at: now(), unsaid: 0 });
    log.warn(
      { ...fields, ...(before !== undefined && before.unsaid > 0 && { unsaid: before.unsaid }) },
      message,
    );
  };
}
