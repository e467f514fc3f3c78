import { describeFault, type CallRecord } from "../fault-proxy/index.ts";
import { type SteppedRun, describeOutcome } from "../simulation/stepped-run.ts";
import { callName } from "./test-plan-decider.ts";
import { type Scenario, describeStep } from "./scenario.ts";
import type { ScenarioRun } from "./scenario-run.ts";

/** The steps up to `until`, and the runs that changed or failed something, a line each. */
export function storyUntil(
  { steps: seen, runs }: ScenarioRun,
  { steps }: Scenario,
  until: number,
): readonly string[] {
  return seen.slice(0, until + 1).flatMap((step, i) => {
    const words = steps.slice(Math.max(0, i - 1), i).map(describeStep);
    const from = seen[i - 1]?.runs ?? 0;
    return [...words, ...runs.slice(from, step.runs).flatMap(describeRun)];
  });
}

function describeRun(run: SteppedRun): readonly string[] {
  const sideEffects = run.calls
    .filter(({ call, fault }) => call.isWrite || fault !== undefined)
    .map(describeRunCall);
  const isWell = run.outcome.kind === "done" || run.outcome.kind === "gone";
  if (sideEffects.length === 0 && isWell) return [];
  const why = run.reasons.length === 0 ? "" : `, for ${run.reasons.join(", ")}`;
  return [
    `  run ${run.number} of ${run.key}${why}:`,
    ...[...sideEffects, ...(isWell ? [] : [describeOutcome(run)])].map((one) => `    ${one}`),
  ];
}

function describeRunCall({ call, fault, server }: CallRecord): string {
  const name = call.name === "" ? (server?.object?.name ?? "") : call.name;
  const refused = server !== undefined && server.status >= 300 ? ` -> ${server.status}` : "";
  return `${callName({ ...call, name })}${refused}${fault === undefined ? "" : `   <-- ${describeFault(fault)}`}`;
}
