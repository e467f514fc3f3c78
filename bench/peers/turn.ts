import { setTimeout as delay } from "node:timers/promises";
import { inParallel } from "../bridge/cluster/api.ts";
import { highestRss } from "../report/process-figures.ts";
import { now } from "../../verification/harness/clock.ts";
import { percentile } from "../../verification/harness/spread.ts";
import type { Key } from "../bridge/cluster/numbered-kind.ts";
import { atOnce } from "./cluster/stage.ts";
import { type Figures, measured, quiet, type Step, type Turn } from "./measured.ts";
import type { AtWork } from "./peers/peer.ts";
import type { Plan } from "./plan.ts";

/** All that one contestant came to in one round. */
export interface TurnFigures {
  readonly peer: string;
  readonly steps: readonly Figures[];
  /** Reconciles of each life: cold start and burst, then restart. */
  readonly runs: readonly number[];
  /** The most that was resident in the first life, bytes, by process. */
  readonly memory: Readonly<Record<string, number>>;
}

/** Longer than the slowest takes for anything. */
const patience = 1_800_000;

/** The Gauges, and the turn that each was last asked for. */
class Gauges {
  readonly turns: Map<Key, number>;
  readonly #turn: Turn;
  constructor(turn: Turn, keys: readonly Key[]) {
    this.#turn = turn;
    this.turns = new Map(keys.map((key) => [key, 0]));
  }

  /** Asks for the next turn of one; when that was sent. */
  async change(key: Key): Promise<number> {
    const next = (this.turns.get(key) ?? 0) + 1;
    this.turns.set(key, next);
    const sent = now();
    await this.#turn.stage.change(key, next);
    return sent;
  }

  /** When each of some was seen to. */
  async seen({ died }: AtWork, keys: Iterable<Key> = this.turns.keys()): Promise<ReadonlyMap<Key, number>> {
    const wanted = new Map([...keys].map((key) => [key, this.turns.get(key) ?? 0]));
    return Promise.race([this.#turn.stage.judge.seen(wanted, patience), died]);
  }
}

/** Cold start, burst, restart and reaction, one after the other, on Gauges that are there before and gone afterwards. */
export async function takeTurn(peer: string, turn: Turn, plan: Plan): Promise<TurnFigures> {
  const { stage, contestant } = turn;
  const gauges = new Gauges(turn, await stage.populate(plan.objects));
  const cold = await coldStart(turn, gauges);
  const burst = await changeAll(turn, gauges, cold.atWork);
  const memory = memoryOf({ ...cold.atWork.pids, ...contestant.beside });
  const firstLife = await cold.atWork.stop();
  const restarted = await restart(turn, gauges, plan);
  const secondLife = await restarted.atWork.stop();
  const again = await contestant.start();
  await warmUp(turn, gauges, again, plan);
  const reaction = await react(turn, gauges, again, plan);
  const crashed = await crash(turn, gauges, again);
  await crashed.atWork.stop();
  await stage.clear();
  return { peer, steps: [cold, burst, restarted, reaction, crashed], runs: [firstLife, secondLife], memory };
}

/** A cold start alone: what it takes to come to know of many Gauges. */
export async function takeColdTurn(peer: string, turn: Turn, { objects }: Plan): Promise<TurnFigures> {
  const gauges = new Gauges(turn, await turn.stage.populate(objects));
  const cold = await coldStart(turn, gauges);
  return ended(peer, turn, cold.atWork, [cold]);
}

/** Reactions alone. */
export async function takeReactingTurn(peer: string, turn: Turn, plan: Plan): Promise<TurnFigures> {
  const { gauges, atWork } = await settled(turn, plan);
  return ended(peer, turn, atWork, [await react(turn, gauges, atWork, plan)]);
}

/** Reactions, and then those of others while one Gauge in a hundred fails whenever it is tried. */
export async function takeFailingTurn(peer: string, turn: Turn, plan: Plan): Promise<TurnFigures> {
  const { gauges, atWork } = await settled(turn, plan);
  const reaction = await react(turn, gauges, atWork, plan);
  const bad = [...gauges.turns.keys()].filter((_, i) => i % 100 === 99);
  for (const key of bad) gauges.turns.delete(key);
  await inParallel(bad.length, atOnce, (i) => turn.stage.spoil(bad[i] ?? ""));
  const beside = await react(turn, gauges, atWork, plan, "reaction beside failures");
  return ended(peer, turn, atWork, [reaction, beside]);
}

/** All Gauges are changed at once, where each reconcile waits for something outside. */
export async function takeSlowTurn(peer: string, turn: Turn, { slowObjects }: Plan): Promise<TurnFigures> {
  const gauges = new Gauges(turn, await turn.stage.populate(slowObjects));
  const atWork = await turn.contestant.start();
  await gauges.seen(atWork);
  await quiet(turn.stage);
  const slow = await changeAll(turn, gauges, atWork, "slow work");
  return ended(peer, turn, atWork, [slow]);
}

/** The beginning of a turn of one life: it has seen to all that there is. */
async function settled(turn: Turn, plan: Plan) {
  const gauges = new Gauges(turn, await turn.stage.populate(plan.objects));
  const atWork = await turn.contestant.start();
  await gauges.seen(atWork);
  await warmUp(turn, gauges, atWork, plan);
  return { gauges, atWork };
}

/** The end of a turn of one life. */
async function ended(
  peer: string,
  { stage, contestant }: Turn,
  atWork: AtWork,
  steps: readonly Figures[],
): Promise<TurnFigures> {
  const memory = memoryOf({ ...atWork.pids, ...contestant.beside });
  const runs = [await atWork.stop()];
  await stage.clear();
  return { peer, steps, runs, memory };
}

/** From the start of its first process until the last Gauge is seen to. */
const coldStart = (turn: Turn, gauges: Gauges) =>
  measured(turn, "cold start", undefined, async () => {
    const atWork = await turn.contestant.start();
    const seen = await gauges.seen(atWork);
    return { times: { "all seen to": latest(seen) - atWork.startedAt }, atWork };
  });

/** From the first change until the last Gauge is seen to. */
const changeAll = (turn: Turn, gauges: Gauges, atWork: AtWork, step: Step = "burst") =>
  measured(turn, step, atWork, async () => {
    const keys = [...gauges.turns.keys()];
    const began = now();
    await inParallel(keys.length, atOnce, (i) => gauges.change(keys[i] ?? ""));
    const answered = now();
    const last = latest(await gauges.seen(atWork));
    return {
      times: { "all seen to": last - began, "after the last change was answered": last - answered },
      atWork,
    };
  });

/** From the start of its first process until what was changed meanwhile is seen to. */
async function restart(turn: Turn, gauges: Gauges, { changedMeanwhile, objects }: Plan) {
  const keys = [...gauges.turns.keys()].filter((_, i) => i % Math.floor(objects / changedMeanwhile) === 0);
  for (const key of keys) await gauges.change(key);
  return measured(turn, "restart", undefined, async () => {
    const atWork = await turn.contestant.start();
    const seen = await gauges.seen(atWork, keys);
    return { times: { "what was changed is seen to": latest(seen) - atWork.startedAt }, atWork };
  });
}

/** A peer that has just started may still read existing objects, and its code is not compiled yet. */
async function warmUp(turn: Turn, gauges: Gauges, atWork: AtWork, plan: Plan): Promise<void> {
  const keys = [...gauges.turns.keys()].slice(-plan.warmUp);
  await changeInTurn(gauges, keys, plan);
  await gauges.seen(atWork, keys);
  await quiet(turn.stage);
}

/** From each change until its status is seen. */
function react(turn: Turn, gauges: Gauges, atWork: AtWork, plan: Plan, step: Step = "reaction") {
  // Each once, so that what is seen is the answer to what was sent.
  const keys = [...gauges.turns.keys()].slice(0, plan.reactions);
  return measured(turn, step, atWork, async () => {
    const sent = await changeInTurn(gauges, keys, plan);
    const seen = await gauges.seen(atWork, keys);
    const lags = sent.map(([key, at]) => (seen.get(key) ?? NaN) - at);
    return { times: { p50: percentile(lags, 50), p99: percentile(lags, 99) }, atWork };
  });
}

/** One change each `every` ms, whether or not what was sent before is answered; when each was sent. */
async function changeInTurn(
  gauges: Gauges,
  keys: readonly Key[],
  { every }: Plan,
): Promise<readonly (readonly [Key, number])[]> {
  const began = now();
  const changes: Promise<readonly [Key, number]>[] = [];
  for (const key of keys) {
    const wait = began + changes.length * every - now();
    if (wait > 0) await delay(wait);
    changes.push(gauges.change(key).then((sent) => [key, sent]));
  }
  return Promise.all(changes);
}

/** All are changed at once; after half of them it is killed, and started again at once, while the rest is changed. */
const crash = (turn: Turn, gauges: Gauges, atWork: AtWork) =>
  measured(turn, "crash", undefined, async () => {
    const keys = [...gauges.turns.keys()];
    const began = now();
    let again = Promise.resolve(atWork);
    let [answered, killedAt] = [0, NaN];
    await inParallel(keys.length, atOnce, async (i) => {
      await gauges.change(keys[i] ?? "");
      if (++answered !== Math.ceil(keys.length / 2)) return;
      killedAt = now();
      again = atWork.kill().then(() => turn.contestant.start());
    });
    const last = latest(await gauges.seen(await again));
    return { times: { "all seen to": last - began, "after the kill": last - killedAt }, atWork: await again };
  });

const latest = (seen: ReadonlyMap<Key, number>): number => Math.max(...seen.values());

const memoryOf = (pids: Readonly<Record<string, number>>): Record<string, number> =>
  Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, highestRss(pid)]));
