/**
 * The same small controller with every peer, in turns, on one real API server.
 *
 *     npm run bench:peers                              three rounds; writes results.md, after each of them
 *     npm run bench:peers -- --rounds 1                printed
 *     npm run bench:peers -- --only Drover,kube-rs     these, and the peer that they are compared with; printed
 *     npm run bench:peers -- --reactions               reactions, and no more; printed
 *     npm run bench:peers -- --objects 30000           a cold start of so many, and no more; printed
 *     npm run bench:peers -- --failing                 reactions while others fail, and no more; printed
 *     npm run bench:peers -- --little                  shows that it works, printed
 *
 * The first run builds the cluster and the peers, for minutes. A peer that cannot be built is left out, and listed.
 */
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { wholeNumber } from "../../verification/harness/whole-number.ts";
import { writeResults } from "../report/write-report.ts";
import { chosen, circumstances } from "../report/command-line.ts";
import { setStage } from "./cluster/stage.ts";
import { drover, droverEmbedded, readingLive, spreadOut } from "./peers/drover.ts";
import { droverCalled } from "./peers/drover-called.ts";
import { controllerRuntime, floor } from "./peers/go.ts";
import { kopf } from "./peers/kopf.ts";
import { javaOperatorSdk, kubeRs } from "./peers/compiled.ts";
import { metacontroller } from "./peers/metacontroller.ts";
import type { Ground, Peer, Prepared } from "./peers/peer.ts";
import { pepr } from "./peers/pepr.ts";
import type { Turn } from "./measured.ts";
import { failingReactions, full, little } from "./plan.ts";
import { type Conditions, reference, report, reportOfPart } from "./report.ts";
import {
  takeColdTurn,
  takeFailingTurn,
  takeReactingTurn,
  takeSlowTurn,
  takeTurn,
  type TurnFigures,
} from "./turn.ts";

const peers: readonly Peer[] = [
  ...[floor, controllerRuntime, kubeRs, kopf, javaOperatorSdk, metacontroller, pepr],
  ...[drover, droverEmbedded, readingLive, droverCalled],
];

const usualRounds = "3";
const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: usualRounds },
    only: { type: "string" },
    objects: { type: "string" },
    reactions: { type: "boolean", default: false },
    failing: { type: "boolean", default: false },
    little: { type: "boolean", default: false },
  },
});
const isAsked = chosen(
  values.only,
  peers.map(({ name }) => name),
);
const usual = values.little ? little : full;
const plan = {
  ...usual,
  objects: values.objects === undefined ? usual.objects : wholeNumber("objects", values.objects, 1),
  reactions: values.failing ? Math.min(failingReactions, usual.reactions) : usual.reactions,
};
/** What a turn is, where it is not the whole of it. */
const parts = { objects: takeColdTurn, reactions: takeReactingTurn, failing: takeFailingTurn };
const askedParts = Object.entries(parts).filter(([name]) => values[name as keyof typeof parts]);
if (askedParts.length > 1) {
  console.error(`Ask for one at a time: ${askedParts.map(([name]) => `--${name}`).join(" or ")}.`);
  process.exit(2);
}
const part = askedParts[0]?.[1];
const take = part ?? takeTurn;
const slowly = { workers: plan.slowWorkers, workMs: plan.workMs };
const progress = (line: string): void => console.error(line);

const notRun = new Map<string, string>();
const prepared = await preparedOf(peers.filter(({ name }) => name === reference || isAsked(name)));
const preparedMore = isAsked(drover.name) ? await preparedOf(spreadOut) : new Map<string, Prepared>();

/** True if every question was asked of every peer. */
const isComplete =
  values.only === undefined && part === undefined && !values.little && values.rounds === usualRounds;

const ended = await circumstances("bench:peers");
const stage = await setStage(progress);
const turns: TurnFigures[] = [];
const slowTurns: TurnFigures[] = [];
try {
  for (let round = 1; round <= Number(values.rounds); round += 1) {
    for (const [name, prepare] of inTurn(prepared, round))
      turns.push(
        await onStage(name, prepare, `round ${round}`, { workers: plan.workers, workMs: 0 }, (turn) =>
          take(name, turn, plan),
        ),
      );
    for (const [name, prepare] of part ? [] : inTurn(new Map([...prepared, ...preparedMore]), round))
      slowTurns.push(
        await onStage(name, prepare, `round ${round}, slow work`, slowly, (turn) =>
          takeSlowTurn(name, turn, plan),
        ),
      );
    // What is measured for hours may be ended before its time.
    if (isComplete) await writeResults(await textOf(), import.meta.dirname);
  }
} catch (error) {
  // What was measured until then is shown all the same.
  console.error(error);
  process.exitCode = 1;
} finally {
  await stage.stop();
}
if (!isComplete || process.exitCode === 1) console.log(await textOf());

async function textOf(): Promise<string> {
  const conditions: Conditions = { ...(await ended()), plan, notRun };
  return part ? reportOfPart(turns, conditions) : report(turns, slowTurns, conditions);
}

/** Each round begins with another peer, so that the API server's growing history favours none. */
function inTurn(all: ReadonlyMap<string, Prepared>, round: number): readonly (readonly [string, Prepared])[] {
  const first = Math.floor(((round - 1) * all.size) / Number(values.rounds));
  return [...[...all].slice(first), ...[...all].slice(0, first)];
}

async function preparedOf(some: readonly Peer[]): Promise<ReadonlyMap<string, Prepared>> {
  const ready = new Map<string, Prepared>();
  for (const peer of some)
    try {
      ready.set(peer.name, await peer.prepare(progress));
    } catch (error) {
      notRun.set(peer.name, error instanceof Error ? error.message : String(error));
    }
  return ready;
}

async function onStage(
  name: string,
  prepare: Prepared,
  title: string,
  how: Pick<Ground, "workers" | "workMs">,
  take: (turn: Turn) => Promise<TurnFigures>,
): Promise<TurnFigures> {
  progress(`${title}: ${name}`);
  const folder = await mkdtemp(join(stage.folder, "turn-"));
  const contestant = await prepare({ kubeconfig: stage.cluster.kubeconfig, folder, ...how });
  try {
    return await take({ stage, contestant });
  } finally {
    await contestant.close();
  }
}
