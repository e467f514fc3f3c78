import { type Circumstances, percents } from "../../report/command-line.ts";
import type { Results } from "../results.ts";
import { goals } from "./goals.ts";
import { afterKills, wakeDuringRun } from "./recovery-tables.ts";
import { cpuPerRun, idleLatency, memory, runsPerSecond, wakesPerSecond } from "./throughput-tables.ts";
import { hotFunctions, serverTime, workerTime } from "./time-tables.ts";

interface Measured extends Circumstances {
  readonly server: string;
  readonly rounds: number;
}

interface Section {
  readonly of: keyof Results;
  readonly title: string;
  readonly note: string;
  readonly body: (results: Results) => string;
}

const sections: readonly Section[] = [
  { of: "runs", title: "Runs per second", note: "An empty handler.", body: runsPerSecond },
  {
    of: "runs",
    title: "CPU per run, µs: workers + server",
    note: "Medians; the last column is the ratio of the sums, round by round.",
    body: cpuPerRun,
  },
  {
    of: "wakes",
    title: "Wakes per second",
    note: "One producer, one call after the other, without a worker. CPU: producer + server, medians.",
    body: wakesPerSecond,
  },
  {
    of: "idle",
    title: "Idle: wake to start, ms",
    note: "One key at a time, one idle worker process; other queues on that server have due keys without a worker.",
    body: idleLatency,
  },
  { of: "memory", title: "Bytes of Redis memory per due key", note: "", body: memory },
  {
    of: "takeover",
    title: "Takeover, ms",
    note: "From SIGKILL of a worker process to the start of the last of its four keys elsewhere. BullMQ with its defaults.",
    body: ({ takeover }) => afterKills(takeover),
  },
  {
    of: "redisBack",
    title: "Redis back, ms",
    note: "SIGKILL, 3 s away, started again with its data: from its first answer to the next start of a run.",
    body: ({ redisBack }) => afterKills(redisBack),
  },
  {
    of: "wakeDuringRun",
    title: "A wake during a run, ms",
    note: "From the end of that run to the start of the next. BullMQ with `deduplication: { id, keepLastIfActive: true, reschedule: true }`.",
    body: wakeDuringRun,
  },
  {
    of: "time",
    title: "Where a worker's time goes, µs per run",
    note: "CPU time, shared out by V8's profiler (which slows: a little more than without); in a function's own code.",
    body: (results) =>
      [workerTime(results), hotFunctions(results, "drover"), hotFunctions(results, "bullmq")].join("\n\n"),
  },
  {
    of: "time",
    title: "Where the server's time goes, µs per run",
    note: "Commands by `INFO commandstats` and `latencystats`: time by the clock, also while others had the core. Commands inside scripts count for themselves and in their `evalsha`.",
    body: serverTime,
  },
];

/** One section per question that was asked, as Markdown. */
export function report(results: Results, circumstances: Measured): string {
  const asked = sections.filter(({ of }) => results[of].length > 0);
  return [
    head(circumstances),
    "## Goals",
    goals(results),
    ...asked.flatMap(({ title, note, body }) => [`## ${title}`, note, body(results)]),
  ]
    .filter((paragraph) => paragraph !== "")
    .join("\n\n");
}

const head = ({ command, machine, server, node, rounds, busy }: Measured): string =>
  [
    "# Results",
    `Written by \`${command}\`. ${machine}; ${server}; Node ${node}. The server keeps nothing on disk, but where it is killed (append-only file, synced each time).`,
    `Others kept the machine ${percents(busy, " busy before and ")} busy after.`,
    `Three figures are min / **median** / max of ${rounds} rounds in which the contenders took turns.`,
  ].join("\n\n");
