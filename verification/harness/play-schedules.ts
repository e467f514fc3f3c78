import { readFileSync } from "node:fs";
import type { parseArgs, ParseArgsConfig } from "node:util";
import type { Timed } from "./event-log.ts";
import type { Outcome } from "./outcome.ts";
import { wholeNumber } from "./whole-number.ts";

/** Counts what schedules did. */
export interface Summary<Event> {
  add(facts: readonly Timed<Event>[]): void;
  /** In one line. */
  line(): string;
}

/** A schedule that broke a promise. */
export interface Broken<Schedule, Event> {
  readonly seed: number;
  readonly index: number;
  readonly schedule: Schedule;
  readonly outcome: Outcome<Event>;
}

export interface Suite<Schedule, Lane, Event> {
  /** Each of them plays one schedule at a time. */
  readonly lanes: readonly Lane[];
  readonly scheduleAt: (index: number) => Schedule;
  readonly play: (schedule: Schedule, lane: Lane) => Promise<Outcome<Event>>;
  readonly summary: Summary<Event>;
  readonly report: (broken: Broken<Schedule, Event>) => string;
}

/** How many schedules are played, which, and what becomes of their logs. */
export interface Playing<Schedule, Kind> {
  readonly seed: number;
  /** Which schedules, by their numbers. */
  readonly from: number;
  readonly until: number;
  /** How many at once, at most. */
  readonly parallel: number;
  /** How long a schedule may take to come to rest, ms. */
  readonly patience: number;
  readonly faults: readonly Kind[];
  /** One that is played again, in the place of those that are drawn. */
  readonly replayed: Schedule | undefined;
  readonly bail: boolean;
  readonly keep: boolean;
}

export interface Readers<Schedule, Kind extends string> {
  readonly faults: readonly Kind[];
  /** @throws where it is no schedule */
  readonly parse: (json: unknown) => Schedule;
}

/** The options of the command line that all suites of schedules share. */
export const playingOptions = {
  schedules: { type: "string", default: "20" },
  seed: { type: "string", default: "1" },
  /** Leave out the schedules before this one. */
  from: { type: "string", default: "0" },
  /** All, unless some are named. */
  faults: { type: "string" },
  /** A schedule as JSON, or the file that holds it. */
  replay: { type: "string" },
  parallel: { type: "string", default: "4" },
  patience: { type: "string", default: "30000" },
  /** Begin no other schedule after one with a violation. */
  bail: { type: "boolean", default: false },
  /** Keep the logs of every schedule, and print their folder. */
  keep: { type: "boolean", default: false },
} as const satisfies ParseArgsConfig["options"];

type Values = ReturnType<typeof parseArgs<{ options: typeof playingOptions }>>["values"];

/** @throws where something of it cannot be, with what to write */
export function playingOf<Schedule, Kind extends string>(
  values: Values,
  { faults, parse }: Readers<Schedule, Kind>,
): Playing<Schedule, Kind> {
  const replayed = values.replay === undefined ? undefined : parse(JSON.parse(jsonOf(values.replay)));
  return {
    seed: wholeNumber("seed", values.seed),
    from: replayed === undefined ? wholeNumber("from", values.from) : 0,
    until: replayed === undefined ? wholeNumber("schedules", values.schedules, 1) : 1,
    parallel: wholeNumber("parallel", values.parallel, 1),
    patience: wholeNumber("patience", values.patience, 1),
    faults: values.faults?.split(",").map((name) => faultIn(faults, name)) ?? faults,
    replayed,
    bail: values.bail,
    keep: values.keep,
  };
}

const jsonOf = (text: string): string => (/^\s*[[{]/.test(text) ? text : readFileSync(text, "utf8"));

function faultIn<Kind extends string>(kinds: readonly Kind[], name: string): Kind {
  const kind = kinds.find((each) => each === name);
  if (kind === undefined) throw new Error(`There is no fault ${name}. There are: ${kinds.join(", ")}.`);
  return kind;
}

/** Plays schedules in all lanes; answers the exit code. */
export async function playSchedules<Schedule, Lane, Event>(
  { seed, from, until, bail, keep }: Playing<Schedule, unknown>,
  { lanes, scheduleAt, play, summary, report }: Suite<Schedule, Lane, Event>,
): Promise<number> {
  let next = from;
  let [played, broken] = [0, 0];
  await Promise.all(
    lanes.map(async (lane) => {
      for (let index = next++; index < until; index = next++) {
        if (bail && broken > 0) return;
        const schedule = scheduleAt(index);
        const outcome = await play(schedule, lane);
        summary.add(outcome.facts);
        played++;
        const isBroken = outcome.violations.length > 0;
        if (isBroken) broken++;
        if (isBroken) console.log(report({ seed, index, schedule, outcome }));
        if (keep) console.log(`schedule ${index}: ${outcome.folder}`);
        else if (!isBroken) await outcome.dispose();
      }
    }),
  );
  console.log(`${played} schedules, seed ${seed}: ${broken} with violations; ${summary.line()}`);
  return broken === 0 ? 0 : 1;
}
