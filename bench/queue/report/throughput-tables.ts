import { titles } from "../contenders/contender.ts";
import { percentile, spread } from "../../../verification/harness/spread.ts";
import type { RunFigures } from "../questions/runs.ts";
import type { WakeFigures } from "../questions/wakes.ts";
import type { Results } from "../results.ts";
import { figure, range, table } from "../../report/markdown.ts";
import { ratios } from "../../report/ratios.ts";
import { distinct, perContender, spreadOf } from "./select.ts";

const names = perContender((name) => titles[name]);
const shown = (found: ReturnType<typeof spreadOf>): string => (found === undefined ? "-" : range(found));

/** The medians of two processes, added for the reader: `worker + server`. */
function cpuShown<F extends { readonly serverCpu: number }>(
  figures: readonly F[],
  which: (f: F) => boolean,
  clientCpu: (f: F) => number,
): string {
  const client = spreadOf(figures, which, clientCpu);
  const server = spreadOf(figures, which, (f) => f.serverCpu);
  return client && server ? `${figure(client.median)} + ${figure(server.median)}` : "-";
}

/** A figure of each contender, with so many keys due. */
const shownAt = <F extends { readonly depth: number; readonly contender: string }>(
  figures: readonly F[],
  depth: number,
  what: (f: F) => number,
): string[] =>
  perContender((name) => shown(spreadOf(figures, (f) => f.depth === depth && f.contender === name, what)));

export const runsPerSecond = ({ runs }: Results): string =>
  table(
    ["keys due", "processes", "runs at once, each", ...names],
    oneOfEach(runs).map((cell) => [
      ...nameOf(cell),
      ...perContender((name) => shown(spreadOf(runs, isOf(cell, name), (f) => f.runsPerSecond))),
    ]),
    3,
  );

/** Worker and server apart, medians; and the sum's ratio, round by round. */
export const cpuPerRun = ({ runs }: Results): string =>
  table(
    ["keys due", "processes", "runs at once, each", ...names, "Drover / BullMQ"],
    oneOfEach(runs).map((cell) => [
      ...nameOf(cell),
      ...perContender((name) => cpuShown(runs, isOf(cell, name), (f) => f.workerCpu)),
      range(spread(cpuRatios(runs, cell))),
    ]),
    3,
  );

/** CPU per run of Drover, worker and server together, as a multiple of bare BullMQ's in the same round. */
export function cpuRatios(runs: readonly RunFigures[], cell: RunFigures): number[] {
  const cpuOf = (name: "drover" | "bullmq") =>
    runs.filter(isOf(cell, name)).map((f) => f.workerCpu + f.serverCpu);
  return ratios(cpuOf("drover"), cpuOf("bullmq"));
}

export const wakesPerSecond = ({ wakes }: Results): string =>
  table(
    ["keys due", "in one call", ...names, "CPU per wake, µs: Drover", "BullMQ"],
    oneOfEach(wakes).map(({ depth, kind }) => {
      const of = (name: string) => (f: WakeFigures) =>
        f.depth === depth && f.kind === kind && f.contender === name;
      const cpu = (name: string) => cpuShown(wakes, of(name), (f) => f.producerCpu);
      return [
        figure(depth),
        inOneCall[kind],
        ...perContender((name) => shown(spreadOf(wakes, of(name), (f) => f.wakesPerSecond))),
        cpu("drover"),
        cpu("bullmq"),
      ];
    }),
    2,
  );

const inOneCall = { bulk: "200 keys", single: "1 key", folded: "200 keys that are due already" } as const;

export const idleLatency = ({ idle }: Results): string =>
  table(
    ["keys due elsewhere", "percentile", ...names],
    distinct(idle, (f) => f.depth).flatMap((depth) =>
      [50, 99].map((percent) => [
        figure(depth),
        `p${percent}`,
        ...shownAt(idle, depth, (f) => percentile(f.latencies, percent)),
      ]),
    ),
    2,
  );

export const memory = ({ memory }: Results): string =>
  table(
    ["keys due", ...names],
    distinct(memory, (f) => f.depth).map((depth) => [
      figure(depth),
      ...shownAt(memory, depth, (f) => f.bytesPerKey),
    ]),
  );

/** One figure of each row that was measured. */
const oneOfEach = <F extends RunFigures | WakeFigures>(figures: readonly F[]): F[] =>
  figures.filter((f) => f.contender === "drover" && f.round === 1);

const nameOf = ({ depth, processes, concurrency }: RunFigures): string[] => [
  figure(depth),
  String(processes),
  String(concurrency),
];

const isOf =
  (cell: RunFigures, name: string) =>
  (f: RunFigures): boolean =>
    f.contender === name &&
    f.depth === cell.depth &&
    f.processes === cell.processes &&
    f.concurrency === cell.concurrency;
