import { percentile, spread } from "../../../verification/harness/spread.ts";
import type { Results } from "../results.ts";
import { figure, type Goal, goalTable, range } from "../../report/markdown.ts";
import { ratios } from "../../report/ratios.ts";
import type { ContenderName, Outcome } from "../contenders/contender.ts";
import { cpuRatios } from "./throughput-tables.ts";

/** A table of the goals for the queue and the figures. A question that was not measured has no row. */
export function goals(results: Results): string {
  const { takeover, redisBack, wakeDuringRun } = results;
  const after = (outcome: Outcome) => ours(wakeDuringRun).filter((f) => f.outcome === outcome);
  return goalTable([
    ...cpu(results),
    ...speed(results),
    ...idle(results),
    ...spans("takeover after a worker's SIGKILL, p99", 10_000, ours(takeover), 99),
    ...spans("first run after Redis came back, longest", 2_000, ours(redisBack), 100),
    ...spans("next run after one that was woken and failed, p99", 100, after("failed"), 99),
    ...spans("next run after one that was woken and asked for 1 s, p99", 100, after("later"), 99),
  ]);
}

const ours = <F extends { readonly contender: ContenderName }>(figures: readonly F[]): readonly F[] =>
  figures.filter((f) => f.contender === "drover");

/** The row of a ratio or a rate over the rounds; none without figures. */
function row(
  what: string,
  wanted: string,
  figures: readonly number[],
  isMet: (median: number) => boolean,
): Goal[] {
  if (figures.length === 0) return [];
  const found = spread(figures);
  return [{ what, wanted, found: range(found), met: isMet(found.median) }];
}

/** Both are about one busy worker process: most keys due, 64 runs at once. */
const busiest = ({ runs }: Results) => {
  const depth = Math.max(...runs.map((f) => f.depth));
  return ours(runs).filter((f) => f.depth === depth && f.processes === 1 && f.concurrency === 64);
};

function cpu(results: Results): Goal[] {
  const [cell] = busiest(results);
  return row(
    "CPU per run (worker + server) beside bare BullMQ's",
    "at most 2.5 times",
    cell ? cpuRatios(results.runs, cell) : [],
    (ratio) => ratio <= 2.5,
  );
}

function speed(results: Results): Goal[] {
  const speeds = busiest(results).map((f) => f.runsPerSecond);
  return row("runs/s of one worker process", "at least 4,000", speeds, (speed) => speed >= 4_000);
}

function idle({ idle }: Results): Goal[] {
  const p50 = (name: string) =>
    idle.filter((f) => f.contender === name).map((f) => percentile(f.latencies, 50));
  return row(
    "idle wake to start, p50, beside bare BullMQ's",
    "at most 1.5 times",
    ratios(p50("drover"), p50("bullmq")),
    (ratio) => ratio <= 1.5,
  );
}

function spans(
  what: string,
  most: number,
  figures: readonly { readonly spans: readonly number[] }[],
  percent: number,
): Goal[] {
  const all = figures.flatMap((f) => f.spans);
  if (all.length === 0) return [];
  const found = percentile(all, percent);
  return [{ what, wanted: `at most ${figure(most)} ms`, found: `${figure(found)} ms`, met: found <= most }];
}
