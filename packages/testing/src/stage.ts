import {
  type Announcement,
  type Controller,
  type Log,
  type Milliseconds,
  type ObjectKey,
  queueOf,
  type Resource,
  silentLog,
} from "@drover/controller";
import type { Entry } from "@drover/fault-proxy";
import { connect, type KubeClient, keyOf, listAll, nameOf, refOf, type ResourceRef } from "@drover/kube";
import type { KeyReport, Run, SteppedTurn, Wake } from "@drover/queue";
import type { ApiAddress } from "./api-address.ts";
import { impatientTimers } from "./impatient-timers.ts";
import { followerOf, type Lane, lanesOf } from "./lane.ts";
import type { Life } from "./life.ts";
import { type Lives, type LivesOptions, openLives } from "./lives.ts";
import type { RunRecord } from "./run-record.ts";
import { removeMade } from "./remove-made.ts";
import { steppedBridge } from "./stepped-bridge.ts";
import type { Lister, TestServer } from "./test-server.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** A key that waits for a time, and what it did the last time that it ran. */
export interface WaitingKey {
  readonly controller: string;
  readonly report: KeyReport;
  readonly last: RunRecord | undefined;
}

/**
 * A whole Drover in one process, one step at a time: an API server, the bridge's and the queue's rules, and a function
 * that can be killed. Nothing happens by itself, and no time passes, but by the one who holds it.
 */
export interface Stage {
  /** The test's own way to the API server: no faults. */
  readonly client: KubeClient;
  /** The test's own way to look at all objects of a kind. */
  readonly lister: Lister;
  /** The same, for plain HTTP. */
  readonly server: ApiAddress;
  /** Every call of the function so far. */
  readonly calls: readonly Entry[];
  /** Those of the first life. */
  readonly controllers: readonly Controller[];
  /** The kinds that they follow, their own first. */
  readonly followed: readonly ResourceRef[];
  readonly runs: readonly RunRecord[];
  readonly announcements: readonly Announcement[];
  /** Has the queues told of what has changed. */
  look(): Promise<void>;
  /** Runs the key whose turn it is; undefined when none is due. */
  step(): Promise<RunRecord | undefined>;
  /** Runs a key, whether or not it is due, and leaves the queue as it is. */
  runOnce(controller: string, key: ObjectKey): Promise<RunRecord>;
  /** By when their time comes. */
  waiting(): Promise<readonly WaitingKey[]>;
  /** What the function asked for that it may not do in a cluster, and what to do about it; empty where there is nothing. */
  missing(): readonly string[];
  /** Keys given up on. */
  parked(): Promise<readonly WaitingKey[]>;
  /** Wakes every object of the controllers' kinds, though nothing happened to it. */
  wakeAll(): Promise<void>;
  /** Kills the function's process; the next step begins another life. */
  kill(): void;
  close(): Promise<void>;
}

export interface StageOptions extends Omit<LivesOptions, "now" | "requestTimeout"> {
  /** It is closed with the stage. */
  readonly server: TestServer;
  readonly clock: VirtualClock;
  /** In [0, 1) */
  readonly random?: () => number;
  readonly log?: Log;
  /** Called before every run, with its number. */
  readonly beforeRun?: (number: number) => void;
}

/** A run that takes longer, by the wall clock, waits for something that never comes. */
const longestRun: Milliseconds = 20_000;

const askedFor = { fails: 0, reasons: ["Asked for"], class: "change", versions: {} } as const;

/** A run did not end. */
export class StuckRunError extends Error {
  override readonly name = "StuckRunError";
}

/** The API server must serve the controllers' kinds before the first look. */
export async function openStage(options: StageOptions): Promise<Stage> {
  const { clock, log = silentLog, random = () => 0.5, server } = options;
  const lives = await openLives({ ...options, now: clock.date, requestTimeout: longestRun });
  const { server: address, calls } = lives;
  const { controllers } = await firstLife(lives, server);
  const client = await connect({ ...address, userAgent: "test", timers: impatientTimers });
  const announcements: Announcement[] = [];
  const announced = (one: Announcement): void => void announcements.push(one);
  const queueing = { now: clock.now, random, log, announced };
  const lanes = (await Promise.all(controllers.map((one) => lanesOf(one, queueing)))).flat();
  const queues = new Map(lanes.map(({ queue }) => [queue.controller, queue]));
  const { lister = client } = server;
  const followers = controllers.map(followerOf);
  const bridge = steppedBridge({ client: lister, followers, queues });
  const runs: RunRecord[] = [];
  const perform = async (lane: Lane, turn: SteppedTurn): Promise<RunRecord> => {
    const number = runs.length + 1;
    options.beforeRun?.(number);
    const record = { ...(await performed({ lane, lives, turn, calls, now: clock.now })), number };
    runs.push(record);
    return record;
  };
  const reported = (of: "waiting" | "parked") => () => reportsOf(lanes, runs, of);
  return {
    client,
    lister,
    server: address,
    controllers,
    followed: followers.flatMap(({ follows }) => follows.map(({ ref }) => ref)),
    calls,
    runs,
    announcements,
    kill: () => lives.kill(),
    look: sparingly(async () => {
      await server.collected?.();
      await bridge.look();
    }, server.version),
    async step() {
      for (const lane of lanes) {
        const turn = await lane.queue.take();
        if (turn !== undefined) return perform(lane, turn);
      }
      return undefined;
    },
    runOnce: async (controller, key) =>
      perform(laneOf(lanes, controller), { key, token: "once", claim: askedFor, until: Infinity }),
    missing: () => lives.missing(),
    waiting: reported("waiting"),
    parked: reported("parked"),
    wakeAll: () => wakeAll(controllers, queues, lister),
    async close() {
      if (server.isShared) await removeMade(address, lives.record);
      await client.close();
      await endBoth(lives, server);
    },
  };
}

async function wakeAll(
  controllers: Stage["controllers"],
  queues: ReadonlyMap<string, Lane["queue"]>,
  lister: Lister,
): Promise<void> {
  for (const { name, for: resource } of controllers) {
    await queues.get(queueOf({ name }))?.wake(await wakesForAll(lister, resource));
  }
}

function laneOf(lanes: readonly Lane[], controller: string): Lane {
  const lane = lanes.find(({ queue }) => queue.controller === queueOf({ name: controller }));
  if (lane === undefined) throw new Error(`There is no controller ${controller}.`);
  return lane;
}

async function endBoth(lives: Lives, server: TestServer): Promise<void> {
  await lives.close();
  await server.close();
}

async function firstLife(lives: Lives, server: TestServer): Promise<Life> {
  try {
    return await lives.current();
  } catch (error) {
    // Their listeners would keep the process from ending.
    await endBoth(lives, server);
    throw error;
  }
}

/** Looks, unless nothing can have changed since. */
function sparingly(look: () => Promise<unknown>, version: TestServer["version"]): () => Promise<void> {
  let seen: string | undefined;
  return async () => {
    const now = version?.();
    if (now !== undefined && now === seen) return;
    await look();
    seen = now;
  };
}

async function reportsOf(lanes: readonly Lane[], runs: readonly RunRecord[], of: "waiting" | "parked") {
  const found = lanes.map(async ({ controller, queue }) =>
    (await queue[of]()).map((report): WaitingKey => ({
      controller,
      report,
      last: runs.findLast((run) => run.controller === controller && run.key === report.key),
    })),
  );
  return (await Promise.all(found)).flat().sort((a, b) => a.report.at - b.report.at);
}

async function wakesForAll(lister: Lister, resource: Resource): Promise<readonly Wake[]> {
  const ref = refOf(resource);
  const about = { kind: nameOf(ref), resourceVersion: "0", reason: "Asked for", class: "change" } as const;
  return (await listAll(lister, ref)).map((object) => ({ key: keyOf(object), ...about }));
}

interface Performing {
  readonly lane: Lane;
  readonly lives: Lives;
  readonly turn: SteppedTurn;
  readonly calls: readonly Entry[];
  readonly now: () => Milliseconds;
}

/** One run, to its verdict or to its process' death; then its lease is left to end. */
async function performed({ lane, lives, turn, calls, now }: Performing): Promise<Omit<RunRecord, "number">> {
  const life = await lives.current();
  const { controller, queue } = lane;
  const { key, token, claim, until } = turn;
  const from = calls.length;
  const held = (): boolean => !life.isDead() && now() < until;
  const run: Run = { key, token, claim, signal: new AbortController().signal, held };
  lives.running(controller);
  const died = life.died.then(() => ({ kind: "killed" }) as const);
  const verdict = await inTime(Promise.race([lane.perform(life, run), died]), run);
  lives.running(undefined);
  if (verdict.kind !== "killed") await queue.settle(turn, verdict);
  const asksAgain = verdict.kind === "done" && life.asksAgain(controller, key);
  return { controller, key, reasons: claim.reasons, verdict, asksAgain, calls: calls.slice(from) };
}

async function inTime<T>(ending: Promise<T>, { key }: Run): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const message =
      `The run of ${key} did not end within ${longestRun / 1_000} s by the wall clock. A function under test must not ` +
      "sleep: return requeueAfter, or throw a RetryAfterError.";
    late.reject(new StuckRunError(message));
  }, longestRun);
  return Promise.race([ending, late.promise]).finally(() => clearTimeout(timer));
}
