import { describeFault, type Entry } from "@drover/fault-proxy";
import { type RunRecord, verdictWords } from "../run-record.ts";
import { callName } from "./plan-decider.ts";
import { type Scenario, stepWords } from "./scenario.ts";
import type { Take } from "./take.ts";

/** What happened until the end of a step, a line each: what people did, and the runs in which anything happened. */
export function storyOf({ steps: seen, runs }: Take, { steps }: Scenario, until: number): readonly string[] {
  return seen.slice(0, until + 1).flatMap((step, i) => {
    const words = steps.slice(Math.max(0, i - 1), i).map(stepWords);
    const from = seen[i - 1]?.runs ?? 0;
    return [...words, ...runs.slice(from, step.runs).flatMap(runWords)];
  });
}

function runWords(run: RunRecord): readonly string[] {
  const deeds = run.calls.filter(({ call, fault }) => call.isWrite || fault !== undefined).map(callWords);
  const isWell = run.verdict.kind === "done" || run.verdict.kind === "gone";
  if (deeds.length === 0 && isWell) return [];
  const why = run.reasons.length === 0 ? "" : `, for ${run.reasons.join(", ")}`;
  return [
    `  run ${run.number} of ${run.key}${why}:`,
    ...[...deeds, ...(isWell ? [] : [verdictWords(run)])].map((one) => `    ${one}`),
  ];
}

function callWords({ call, fault, server }: Entry): string {
  const name = call.name === "" ? (server?.object?.name ?? "") : call.name;
  const refused = server !== undefined && server.status >= 300 ? ` -> ${server.status}` : "";
  return `${callName({ ...call, name })}${refused}${fault === undefined ? "" : `   <-- ${describeFault(fault)}`}`;
}
