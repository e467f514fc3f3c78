import { type Circumstances, percents } from "../report/command-line.ts";
import { type Spread, spread } from "../../verification/harness/spread.ts";
import { countTable, figure, range, table } from "../report/markdown.ts";
import { distinct } from "../queue/report/select.ts";
import { ratios } from "../report/ratios.ts";
import { legs } from "./legs.ts";
import { servers, type Step, steps } from "./measured.ts";
import type { Plan } from "./plan.ts";
import type { TurnFigures } from "./turn.ts";

export interface Conditions extends Circumstances {
  readonly plan: Plan;
  /** Contestants that could not be built, and why. */
  readonly notRun: ReadonlyMap<string, string>;
}

/** Every other peer is compared with this one. */
export const reference = "controller-runtime";

/** What one turn came to, by name. */
type Measure = readonly [title: string, of: (turn: TurnFigures) => number];

const sum = (figures: Readonly<Record<string, number>>, but?: string): number =>
  Object.entries(figures).reduce((total, [name, value]) => (name === but ? total : total + value), 0);
const ofStep = (turn: TurnFigures, step: Step) => turn.steps.find((one) => one.step === step);

const times: readonly Measure[] = (
  [
    ["reaction", "p50", "reaction p50, ms"],
    ["reaction", "p99", "reaction p99, ms"],
    ["reaction beside failures", "p50", "reaction beside failures p50, ms"],
    ["reaction beside failures", "p99", "reaction beside failures p99, ms"],
    ["cold start", "all seen to", "cold start, ms"],
    ["burst", "all seen to", "burst, ms"],
    ["burst", "after the last change was answered", "burst: after the last change, ms"],
    ["restart", "what was changed is seen to", "restart, ms"],
    ["crash", "all seen to", "crash in a burst, ms"],
    ["crash", "after the kill", "crash: after the kill, ms"],
  ] as const
).map(([step, time, title]) => [title, (turn) => ofStep(turn, step)?.times[time] ?? NaN]);

/** What was killed has taken its CPU time along. */
const whole = steps.filter((step) => step !== "crash" && step !== "slow work");
const perStep = (what: string, of: (turn: TurnFigures, step: Step) => number): readonly Measure[] =>
  whole.map((step) => [
    `${what}, ${step}`,
    (turn) => (ofStep(turn, step) === undefined ? NaN : of(turn, step)),
  ]);

const requests = perStep("requests", (turn, step) => sum(ofStep(turn, step)?.requests ?? {}));
const crashRequests: Measure = ["requests, crash", (turn) => sum(ofStep(turn, "crash")?.requests ?? {})];
const cpu = perStep("CPU, s", (turn, step) => sum(ofStep(turn, step)?.cpu ?? {}, servers));
const serverCpu = perStep("API server's CPU, s", (turn, step) => ofStep(turn, step)?.cpu[servers] ?? NaN);
const memory: Measure = ["memory, MiB", (turn) => sum(turn.memory) / 1024 ** 2];
const others: readonly Measure[] = [
  ["reconciles, cold start and burst", ({ runs }) => runs[0] ?? NaN],
  ["reconciles, restart", ({ runs }) => runs[1] ?? NaN],
  memory,
];

/** Of turns that took a few of the steps. */
export function reportOfPart(turns: readonly TurnFigures[], conditions: Conditions): string {
  const names = distinct(turns, ({ peer }) => peer);
  return [
    ...opening(conditions, turns),
    comparison(turns, names, [...times, ...requests, ...cpu, ...serverCpu, memory]),
    byProcess(turns, names),
  ].join("\n\n");
}

/**
 * @param turns of every contestant, round by round.
 * @param slowTurns those of slow work, likewise.
 */
export function report(
  turns: readonly TurnFigures[],
  slowTurns: readonly TurnFigures[],
  conditions: Conditions,
): string {
  const { plan } = conditions;
  const names = distinct(turns, ({ peer }) => peer);
  const compared = (measures: readonly Measure[]): string => comparison(turns, names, measures);
  return [
    ...opening(conditions, turns),
    "## Time",
    compared(times),
    "## Slow work",
    `${plan.slowObjects.toLocaleString("en")} objects are changed at once, and each reconcile waits ${plan.workMs} ms for ` +
      `something outside: with ${plan.slowWorkers} at a time in a process, one is not done before ` +
      `${figure((plan.slowObjects * plan.workMs) / plan.slowWorkers)} ms.`,
    slowWork(slowTurns),
    "## Where a reaction's time goes",
    "Medians of the last round, ms, by the API server's own clock, which records when a request came and when it was answered.",
    byLeg(turns, names),
    "## What it takes",
    compared([...requests, crashRequests, ...cpu, ...serverCpu, ...others]),
    "## Requests of the last round",
    ...taken(turns, [...whole, "crash"]).map((step) => `### ${step}\n\n${asked(turns, names, step)}`),
    "## CPU seconds and memory of the last round, by process",
    byProcess(turns, names),
  ].join("\n\n");
}

function opening(
  { command, machine, busy, plan, notRun }: Conditions,
  turns: readonly TurnFigures[],
): readonly string[] {
  const rounds = Math.max(0, ...turns.map(({ peer }) => of(turns, peer).length));
  const shares = percents(busy, " and ");
  return [
    "<!-- Written by npm run bench:peers. -->",
    "# The same controller, with every peer",
    `\`${command}\` on ${machine}, which was ${shares} busy before and after: ` +
      `${plan.objects.toLocaleString("en")} objects, ${plan.reactions.toLocaleString("en")} reactions a round, ` +
      `one every ${plan.every} ms. min / **median** / max of ${rounds === 1 ? "the one round" : `${rounds} rounds`}; in brackets, the median of ` +
      `what it is of ${reference}'s in the same round.`,
    ...[...notRun].map(([name, why]) => `*${name} was not run:* ${why}`),
  ];
}

/** Those of the steps that were taken at all. */
const taken = (turns: readonly TurnFigures[], of: readonly Step[]): readonly Step[] =>
  of.filter((step) => turns.some((turn) => ofStep(turn, step)));

const of = (turns: readonly TurnFigures[], name: string): readonly TurnFigures[] =>
  turns.filter(({ peer }) => peer === name);

function comparison(
  turns: readonly TurnFigures[],
  names: readonly string[],
  measures: readonly Measure[],
): string {
  const known = measures.filter(([, measure]) => turns.some((turn) => Number.isFinite(measure(turn))));
  const rows = known.map(([title, measure]) => {
    const theirs = of(turns, reference).map(measure);
    const cells = names.map((name) => {
      const figures = of(turns, name).map(measure);
      const ratio = medianOf(ratios(figures, theirs));
      const suffix = name === reference || ratio === undefined ? "" : ` (${figure(ratio)})`;
      return `${range(spread(figures))}${suffix}`;
    });
    return [title, ...cells];
  });
  return table(["", ...names], rows);
}

function slowWork(turns: readonly TurnFigures[]): string {
  const names = distinct(turns, ({ peer }) => peer);
  const time = (turn: TurnFigures): number => ofStep(turn, "slow work")?.times["all seen to"] ?? NaN;
  const cpuOf = (turn: TurnFigures): number => sum(ofStep(turn, "slow work")?.cpu ?? {}, servers);
  const cell = (name: string, measure: Measure[1]): string => range(spread(of(turns, name).map(measure)));
  const rows = names.map((name) => [name, cell(name, time), cell(name, cpuOf)]);
  return table(["", "all seen to, ms", "CPU, s"], rows);
}

function byLeg(turns: readonly TurnFigures[], names: readonly string[]): string {
  const last = names.map((name) => lastStep(turns, name, "reaction")?.legs);
  return table(
    ["", ...names],
    legs.map((leg) => [leg, ...last.map((each) => figure(each?.get(leg) ?? NaN))]),
  );
}

function medianOf(figures: readonly number[]): Spread["median"] | undefined {
  const known = figures.filter(Number.isFinite);
  return known.length === 0 ? undefined : spread(known).median;
}

const asked = (turns: readonly TurnFigures[], names: readonly string[], step: Step): string =>
  countTable(
    names,
    names.map((name) => lastStep(turns, name, step)?.requests ?? {}),
  );

/** A step of a peer's last round. */
function lastStep(turns: readonly TurnFigures[], name: string, step: Step) {
  const turn = of(turns, name).at(-1);
  return turn && ofStep(turn, step);
}

function byProcess(turns: readonly TurnFigures[], names: readonly string[]): string {
  const shown = taken(turns, whole);
  const rows = names.flatMap((name) => {
    return Object.entries(of(turns, name).at(-1)?.memory ?? {}).map(([process, bytes]) => [
      ...[name, process, figure(bytes / 1024 ** 2)],
      ...shown.map((step) => figure(lastStep(turns, name, step)?.cpu[process] ?? NaN)),
    ]);
  });
  return table(["", "", "MiB", ...shown], rows, 2);
}
