/**
 * # What does a call cost?
 *
 * `npm run bench:push` has the same no-op reconciled by a function that pulls and by one that the gateway calls, in turns,
 * and writes results.md.
 */
import { objectKey, type ObjectKey, type QueueName, queueOf, silentLog } from "@drover/controller";
import { connectRedis, disconnectRedis, openWorkQueue, type WorkQueue } from "@drover/queue";
import { cpus } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { writeResults } from "../report/write-report.ts";
import { spread, percentile } from "../../verification/harness/spread.ts";
import { cpuOf as cpuOfProcess } from "../report/process-figures.ts";
import { ratios } from "../report/ratios.ts";
import { setStage, type Stage } from "./stage.ts";
import { range, table as markdownTable } from "../report/markdown.ts";

const { values } = parseArgs({
  options: { objects: { type: "string", default: "300" }, rounds: { type: "string", default: "3" } },
});
const [objects, rounds] = [Number(values.objects), Number(values.rounds)];
/** Runs of a key that its history keeps. */
const kept = 10;

type Way = "pull" | "push";
interface Figures {
  readonly p50: number;
  readonly p99: number;
  readonly perSecond: number;
  /** Of the worker's processes, ms per run. */
  readonly cpu: number;
}

const stage = await setStage(objects);
const redis = await connectRedis({ url: stage.redis.url, clientName: "bench", log: silentLog });
const queues: Readonly<Record<Way, WorkQueue>> = {
  pull: opened(queueOf({ name: "pull" })),
  push: opened(queueOf(stage.push)),
};
const keys = Array.from({ length: objects }, (_, i) =>
  objectKey({ namespace: "default", name: `noop-${i}` }),
);
let version = 0;

const found: { readonly way: Way; readonly load: string; readonly figures: Figures }[] = [];
for (const way of ["pull", "push"] as const) await allAtOnce(way); // warm, and the status is written
for (let round = 0; round < rounds; round++) {
  for (const way of ["pull", "push"] as const) {
    found.push({ way, load: "one at a time", figures: await measured(way, oneAtATime) });
    found.push({ way, load: "all at once", figures: await measured(way, allAtOnce) });
  }
}
await Promise.all(Object.values(queues).map((queue) => queue.close()));
await disconnectRedis(redis);
await stage.stop();

const text = `<!-- Written by npm run bench:push. -->\n\n# What a call costs\n\n${description()}\n\n${table()}\n`;
console.log(text);
await writeResults(text, import.meta.dirname);
process.exit();

function opened(controller: QueueName): WorkQueue {
  return openWorkQueue({ redis, controller, log: silentLog, upkeep: "own" });
}

async function measured(way: Way, load: (way: Way) => Promise<number>): Promise<Figures> {
  const before = cpuOf(stage, way);
  const begun = performance.now();
  const runs = await load(way);
  const seconds = (performance.now() - begun) / 1_000;
  const cpu = (cpuOf(stage, way) - before) / runs;
  const times = (await Promise.all(keys.map(async (key) => (await queues[way].inspect(key)).runs))).flatMap(
    (all) => all.slice(0, runs / objects).map(({ duration }) => duration),
  );
  return { p50: percentile(times, 50), p99: percentile(times, 99), perSecond: runs / seconds, cpu };
}

/** Each key is woken when the one before has run. */
async function oneAtATime(way: Way): Promise<number> {
  for (const key of keys) {
    const { now } = await queues[way].notRunSince([key], 0);
    await wake(way, [key]);
    while (!(await hasRun(way, key, now))) await delay(1);
  }
  return objects;
}

async function hasRun(way: Way, key: ObjectKey, since: number): Promise<boolean> {
  const { key: report, runs } = await queues[way].inspect(key);
  return (report.state === "idle" || report.state === "waits") && Date.parse(runs[0]?.at ?? "") >= since - 1;
}

/** All keys are due, again and again, as often as their histories keep. */
async function allAtOnce(way: Way): Promise<number> {
  for (let i = 0; i < kept; i++) {
    await wake(way, keys);
    for (;;) {
      const { due, running } = await queues[way].stats(5_000);
      if (due + running === 0) break;
      await delay(2);
    }
  }
  return objects * kept;
}

function wake(way: Way, which: readonly ObjectKey[]): Promise<void> {
  const resourceVersion = String(++version);
  const about = { kind: "noops.bench.drover.dev", resourceVersion, reason: "Modified" } as const;
  return queues[way].wake(which.map((key) => ({ key, ...about, class: "change" })));
}

/** CPU time so far, ms, of all processes that a way takes besides Redis and the API server. */
function cpuOf({ pids }: Stage, way: Way): number {
  const of = way === "pull" ? [pids.pull] : [pids.gateway, pids.push];
  return of.reduce((sum, pid) => sum + 1_000 * cpuOfProcess(pid), 0);
}

function description(): string {
  return `${cpus().length} cores, ${stage.redis.description}, the sandbox for an API server. ${objects} objects, ${rounds} rounds: min / median / max of the rounds; ratios are taken within a round.`;
}

function table(): string {
  const head = ["load", "way", "run p50, ms", "run p99, ms", "runs/s", "CPU per run, ms"];
  const lines = ["one at a time", "all at once"].flatMap((load) => {
    const of = (way: Way) => {
      const some = found.filter((one) => one.load === load && one.way === way);
      return (["p50", "p99", "perSecond", "cpu"] as const).map((name) =>
        some.map(({ figures }) => figures[name]),
      );
    };
    const [pull, push] = [of("pull"), of("push")];
    const ratio = push.map((figures, i) => ratios(figures, pull[i] ?? []));
    const rows = Object.entries({ pull, "gateway and function": push, ratio });
    return rows.map(([name, cells]) => [load, name, ...cells.map((cell) => range(spread(cell)))]);
  });
  return markdownTable(head, lines, 2);
}
