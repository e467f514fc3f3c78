import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Timed } from "./event-log.ts";
import type { Violation } from "./report-violations.ts";

/** The result of one schedule. */
export interface Outcome<Event> {
  readonly violations: readonly Violation[];
  readonly facts: readonly Timed<Event>[];
  /** Holds the logs of the processes, and `facts.jsonl`. `dispose` removes it. */
  readonly folder: string;
  dispose(): Promise<void>;
}

/** Writes the events into the folder of the schedule. */
export async function outcomeOf<Event>(
  folder: string,
  facts: readonly Timed<Event>[],
  violations: readonly Violation[],
): Promise<Outcome<Event>> {
  await writeFile(join(folder, "facts.jsonl"), facts.map((fact) => `${JSON.stringify(fact)}\n`).join(""));
  return { violations, facts, folder, dispose: () => rm(folder, { recursive: true, force: true }) };
}
