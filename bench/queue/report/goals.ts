import { percentile, spread } from "../../../verification/harness/spread.ts";
import type { Results } from "../results.ts";
import { figure, type Goal, goalTable, range } from "../../report/markdown.ts";
import { spreadOf } from "./select.ts";
import { cpuRatios } from "./throughput-tables.ts";

/** Without a figure where it was not measured. */
interface Wanted extends Pick<Goal, "what" | "wanted"> {
  readonly found: { readonly shown: string; readonly met: boolean } | undefined;
}

/** What we want of the queue, and what came out. */
export function goals(results: Results): string {
  const all = [
    cpu(results),
    speed(results),
    idle(results),
    takeover(results),
    redisBack(results),
    ...wakes(results),
  ];
  return goalTable(
    all.flatMap(({ what, wanted, found }) =>
      found === undefined ? [] : [{ what, wanted, found: found.shown, met: found.met }],
    ),
  );
}

/** Both are about one busy worker process: most keys due, 64 runs at once. */
const busiest = ({ runs }: Results) => {
  const depth = Math.max(...runs.map((f) => f.depth));
  return runs.find(
    (f) => f.contender === "drover" && f.depth === depth && f.processes === 1 && f.concurrency === 64,
  );
};

function cpu(results: Results): Wanted {
  const cell = busiest(results);
  const ratio = cell && spread(cpuRatios(results.runs, cell));
  return {
    what: "CPU per run (worker + server) beside bare BullMQ's",
    wanted: "at most 2.5 times",
    found: ratio && { shown: range(ratio), met: ratio.median <= 2.5 },
  };
}

function speed(results: Results): Wanted {
  const cell = busiest(results);
  const speed =
    cell &&
    spreadOf(
      results.runs,
      (f) => f.contender === "drover" && f.depth === cell.depth && f.processes === 1 && f.concurrency === 64,
      (f) => f.runsPerSecond,
    );
  return {
    what: "runs/s of one worker process",
    wanted: "at least 4,000",
    found: speed && { shown: range(speed), met: speed.median >= 4_000 },
  };
}

function idle({ idle }: Results): Wanted {
  const p50 = (name: string) =>
    idle.filter((f) => f.contender === name).map((f) => percentile(f.latencies, 50));
  const theirs = p50("bullmq");
  const ratios = p50("drover").map((ours, i) => ours / (theirs[i] ?? NaN));
  const found = ratios.length === 0 ? undefined : spread(ratios);
  return {
    what: "idle wake to start, p50, beside bare BullMQ's",
    wanted: "at most 1.5 times",
    found: found && { shown: range(found), met: found.median <= 1.5 },
  };
}

function takeover({ takeover }: Results): Wanted {
  return spans(
    "takeover after a worker's SIGKILL, p99",
    10_000,
    takeover.filter((f) => f.contender === "drover"),
    99,
  );
}

function redisBack({ redisBack }: Results): Wanted {
  const ours = redisBack.filter((f) => f.contender === "drover");
  return spans("first run after Redis came back, longest", 2_000, ours, 100);
}

function wakes({ wakeDuringRun }: Results): Wanted[] {
  const ours = wakeDuringRun.filter((f) => f.contender === "drover");
  return [
    spans(
      "next run after one that was woken and failed, p99",
      100,
      ours.filter((f) => f.outcome === "failed"),
      99,
    ),
    spans(
      "next run after one that was woken and asked for 1 s, p99",
      100,
      ours.filter((f) => f.outcome === "later"),
      99,
    ),
  ];
}

function spans(
  what: string,
  most: number,
  figures: readonly { spans: readonly number[] }[],
  percent: number,
): Wanted {
  const all = figures.flatMap((f) => f.spans);
  const found = all.length === 0 ? undefined : percentile(all, percent);
  return {
    what,
    wanted: `at most ${figure(most)} ms`,
    found: found === undefined ? undefined : { shown: `${figure(found)} ms`, met: found <= most },
  };
}
