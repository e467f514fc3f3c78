import type { Milliseconds } from "@drover/controller";
import type { Fact, OutcomeKind } from "./facts.ts";

/** One call of a handler, put together from the facts about it. */
export interface RunRecord {
  readonly token: string;
  readonly process: string;
  readonly startedAt: Milliseconds;
  /** When it wrote, having called `hasLease()` right before. */
  readonly effects: readonly Milliseconds[];
  readonly endedAt: Milliseconds | undefined;
  readonly outcome: OutcomeKind | undefined;
  readonly again: boolean;
  /** When the queue was known to have accepted a outcome, and which. */
  readonly settledAt: Milliseconds | undefined;
  readonly settled: OutcomeKind | undefined;
}

type Mutable = { -readonly [Field in keyof RunRecord]: RunRecord[Field] } & { effects: Milliseconds[] };

/** The runs of each key, in the order in which their handlers were called. */
export function runsOf(facts: readonly Fact[]): ReadonlyMap<string, readonly RunRecord[]> {
  const byToken = new Map<string, Mutable>();
  const byKey = new Map<string, Mutable[]>();
  for (const fact of facts) {
    if (fact.fact === "started") {
      const run = begun(fact);
      byToken.set(fact.token, run);
      byKey.set(fact.key, [...(byKey.get(fact.key) ?? []), run]);
    } else if (fact.fact === "effect" || fact.fact === "ended" || fact.fact === "settled") {
      const run = byToken.get(fact.token);
      if (run !== undefined) goOn(run, fact);
    }
  }
  for (const runs of byKey.values()) runs.sort((a, b) => a.startedAt - b.startedAt);
  return byKey;
}

const begun = (fact: Extract<Fact, { fact: "started" }>): Mutable => ({
  token: fact.token,
  process: fact.process,
  startedAt: fact.sent,
  effects: [],
  endedAt: undefined,
  outcome: undefined,
  again: false,
  settledAt: undefined,
  settled: undefined,
});

function goOn(run: Mutable, fact: Extract<Fact, { fact: "effect" | "ended" | "settled" }>): void {
  switch (fact.fact) {
    case "effect":
      if (fact.held) run.effects.push(fact.sent);
      return;
    case "ended":
      run.endedAt ??= fact.sent;
      run.outcome ??= fact.outcome;
      run.again = fact.again;
      return;
    case "settled":
      run.settledAt = fact.at;
      run.settled = fact.outcome;
  }
}
