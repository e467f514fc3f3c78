import type { Milliseconds } from "@drover/controller";
import type { Fact } from "../bridge-chaos/oracle/facts.ts";

/** For each change that matters, the time from when the recorder saw it to the first run that read it or what came later. */
export function lagsOf(facts: readonly Fact[]): readonly Milliseconds[] {
  const waiting = new Map<string, { version: number; at: Milliseconds }[]>();
  const lags: Milliseconds[] = [];
  for (const fact of facts) {
    if (fact.fact === "changed" && fact.matters) {
      waiting.set(fact.key, [...(waiting.get(fact.key) ?? []), { version: fact.version, at: fact.at }]);
    }
    if (fact.fact !== "ran") continue;
    const changes = waiting.get(fact.key) ?? [];
    const seen = changes.filter(({ version }) => version <= fact.read);
    lags.push(...seen.map(({ at }) => Math.max(0, fact.startedAt - at)));
    waiting.set(
      fact.key,
      changes.filter(({ version }) => version > fact.read),
    );
  }
  return lags;
}
