import type { Plan } from "../processes/messages.ts";
import type { Behaviour } from "./schedule.ts";

/** Something special about the next run in a process. */
export type Special = Partial<Pick<Plan, "busy" | "ignoresSignal" | "hold">>;

/** How each run goes. */
export interface Plans {
  next(key: string, process: string): Plan;
  /** The next run in that process is special. A second one takes the place of the first. */
  arm(process: string, special: Special): void;
  disarm(process: string): void;
  /** From now on every run succeeds, and asks for nothing. */
  heal(): void;
}

const usual: Plan = { outcome: "done", throws: false, work: 2, busy: 0, ignoresSignal: 0, hold: false };
/** Duration of a slow run. Milliseconds. */
const slowly = 60;
/** Longer than a lease, and shorter than the timeout of a run. Milliseconds. */
const veryLong = 1_200;
/** In how long a key that asks for it is looked at again. Milliseconds. */
const soon = 30;
const muchLater = 600_000;

export function plansFor(behaviours: ReadonlyMap<string, Behaviour>): Plans {
  const runs = new Map<string, number>();
  const specials = new Map<string, Special>();
  let healed = false;
  return {
    next(key, process) {
      const run = (runs.get(key) ?? 0) + 1;
      runs.set(key, run);
      const special = specials.get(process) ?? {};
      specials.delete(process);
      const given = behaviours.get(key) ?? "works";
      const behaviour = healed && given !== "long" ? "works" : given;
      return { ...planOf(behaviour, run % 2 === 1), ...special };
    },
    arm: (process, special) => void specials.set(process, special),
    disarm: (process) => void specials.delete(process),
    heal: () => void (healed = true),
  };
}

/** How the runs of a key differ from the usual one. */
const differences: Readonly<Record<Behaviour, Partial<Plan>>> = {
  works: {},
  slow: { work: slowly },
  long: { work: veryLong },
  fails: { outcome: "retry" },
  flaky: { outcome: "retry" },
  throws: { outcome: "retry", throws: true },
  again: { after: soon },
  later: { after: muchLater },
  waits: { outcome: "wait", after: soon },
  conflicts: { outcome: "conflict" },
  terminal: { outcome: "terminal" },
  gone: { outcome: "gone" },
};
/** Only every other run of these keys differs. */
const everyOther: readonly Behaviour[] = ["flaky", "throws", "conflicts", "gone"];

const planOf = (behaviour: Behaviour, odd: boolean): Plan =>
  odd || !everyOther.includes(behaviour) ? { ...usual, ...differences[behaviour] } : usual;
