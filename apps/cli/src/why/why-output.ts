import { oneLine } from "@drover/controller";
import { conditionOf } from "../object-conditions.ts";
import { shortDuration } from "../short-duration.ts";
import { table } from "../table.ts";
import { ignoredPauseWarning } from "./all-pauses.ts";
import { explanationOf } from "./explanation.ts";
import type { KeyFacts } from "./key-facts.ts";

/**
 * The explanation, followed by the facts that it is based on.
 * @param notRunning the parts of Drover that do not run, a sentence each.
 */
export function whyLines(facts: KeyFacts, notRunning: readonly string[]): readonly string[] {
  const { fn, report, runs, now, object } = facts;
  const { summary, nextRunAt } = explanationOf(facts);
  const ready = object && conditionOf(object);
  const details: readonly (readonly [string, string | undefined])[] = [
    ["function", fn.key],
    ["state", report.why === undefined ? report.state : `${report.state} (${report.why})`],
    ["woken by", report.reasons.length === 0 ? undefined : report.reasons.join(", ")],
    ["next run", nextRunAt],
    ["failures", report.fails === 0 ? undefined : String(report.fails)],
    ["last error", report.error],
    ["account", report.account],
    ["object", object === undefined ? "does not exist" : undefined],
    ["annotation", ignoredPauseWarning(object)],
    ["deleted", object?.metadata.deletionTimestamp],
    ["Ready", ready && `${ready.status}, ${ready.reason}: ${ready.message}`],
  ];
  const given = details.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  return [
    oneLine(summary),
    ...notRunning.map(oneLine),
    "",
    ...given.map(([name, value]) => oneLine(`  ${name.padEnd(12)}${value}`)),
    "",
    ...(runs.length === 0 ? ["  No run is recorded."] : runTable(runs, now).map((line) => `  ${line}`)),
  ];
}

/** Past runs, newest first, as a table. */
export const runTable = (runs: KeyFacts["runs"], now: number): readonly string[] =>
  table(
    ["ENDED", "TOOK", "VERDICT", "WOKEN BY", "ERROR"],
    runs.map(({ at, duration, verdict, trigger, error = "" }) => [
      `${shortDuration(now - Date.parse(at))} ago`,
      shortDuration(duration),
      verdict,
      trigger.length === 0 ? "time" : trigger.join(", "),
      error,
    ]),
  );

/** The same as JSON. */
export function whyJson(facts: KeyFacts): object {
  const { kind, key, fn, report, runs, object } = facts;
  return {
    ...explanationOf(facts),
    kind,
    key,
    function: fn.key,
    queue: { ...report, key: undefined },
    runs,
    object: object && {
      uid: object.metadata.uid,
      generation: object.metadata.generation,
      deletionTimestamp: object.metadata.deletionTimestamp,
      ready: conditionOf(object),
    },
  };
}
