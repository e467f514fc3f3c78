/**
 * The cost of the children of 1,000 parents with Drover, with controller-runtime and with Metacontroller, in turns, on one
 * real API server.
 *
 *     npm run bench:compose                             three rounds; writes results.md, after each turn
 *     npm run bench:compose -- --rounds 1               writes results.md
 *     npm run bench:compose -- --apart                  API server and contestant have a core each; writes results-apart.md
 *     npm run bench:compose -- --only Drover            this one, and controller-runtime; printed
 *     npm run bench:compose -- --parents 200            printed
 *     npm run bench:compose -- --little                 shows that it works, printed
 *
 * The first run builds the cluster and the controllers, which takes minutes. A contestant that cannot be built is left
 * out, and the report names it.
 */
import { execFileSync } from "node:child_process";
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { wholeNumber } from "../../verification/harness/whole-number.ts";
import { chosen, circumstances } from "../report/command-line.ts";
import { writeResults } from "../report/write-report.ts";
import type { AtWork, Contestant, Ground } from "./contestants/contestant.ts";
import { drover } from "./contestants/drover.ts";
import { comparing, controllerRuntime } from "./contestants/go.ts";
import { metacontroller } from "./contestants/metacontroller.ts";
import { takeTurn, type Turn } from "./measured.ts";
import { reference, report } from "./report.ts";
import { setStage } from "./stage.ts";

const contestants: readonly Contestant[] = [controllerRuntime, drover, metacontroller, comparing];
const workers = 16;

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    only: { type: "string" },
    parents: { type: "string" },
    apart: { type: "boolean", default: false },
    little: { type: "boolean", default: false },
  },
});
const isAsked = chosen(
  values.only,
  contestants.map(({ name }) => name),
);
const usual = values.little ? 50 : 1_000;
const parents = values.parents === undefined ? usual : wholeNumber("parents", values.parents, 1);
const isWritten = values.only === undefined && parents === 1_000;
const resultsName = values.apart ? "results-apart.md" : "results.md";
const progress = (line: string): void => console.error(line);

const notRun = new Map<string, string>();
const prepared = await preparedOf(contestants.filter(({ name }) => name === reference || isAsked(name)));
const ended = await circumstances("bench:compose");
const stage = await setStage(progress);
if (values.apart) pin(stage.cluster.pids(), 0);
const turns: Turn[] = [];
try {
  for (let round = 1; round <= Number(values.rounds); round += 1) {
    for (const [name, start] of inTurn([...prepared], round)) {
      progress(`round ${round}: ${name}`);
      turns.push(await onStage(name, start));
      // A round takes so long that it may be ended before its time.
      if (isWritten) await writeResults(await textOf(), import.meta.dirname, resultsName);
    }
  }
} finally {
  await stage.stop();
}
if (!isWritten) console.log(await textOf());

/** From now on these processes, with all their threads, run on this core only. */
function pin(pids: readonly number[], core: number): void {
  for (const pid of pids)
    execFileSync("taskset", ["--all-tasks", "--pid", "--cpu-list", String(core), String(pid)]);
}

async function textOf(): Promise<string> {
  return report(turns, { ...(await ended()), parents, notRun });
}

/** Each round begins with another contestant, because the API server's history grows. */
function inTurn<T>(all: readonly T[], round: number): readonly T[] {
  const first = (round - 1) % all.length;
  return [...all.slice(first), ...all.slice(0, first)];
}

async function preparedOf(
  some: readonly Contestant[],
): Promise<ReadonlyMap<string, (ground: Ground) => Promise<AtWork>>> {
  const ready = new Map<string, (ground: Ground) => Promise<AtWork>>();
  for (const one of some)
    try {
      ready.set(one.name, await one.prepare(progress));
    } catch (error) {
      notRun.set(one.name, error instanceof Error ? error.message : String(error));
    }
  return ready;
}

async function onStage(name: string, start: (ground: Ground) => Promise<AtWork>): Promise<Turn> {
  const folder = await mkdtemp(join(stage.folder, "turn-"));
  const atWork = await start({ stage, folder, workers });
  if (values.apart) pin([process.pid, ...Object.values(atWork.pids)], 1);
  try {
    return await takeTurn(stage, name, atWork, parents);
  } finally {
    await atWork.stop();
    await stage.clear();
  }
}
