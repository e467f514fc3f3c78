import { type Controller, type Log, type Milliseconds, silentLog } from "@drover/controller";
import type { Entry, FaultDecider, Upstream } from "@drover/fault-proxy";
import { connect, type KubeClient, keyOf, listAll, nameOf, refOf } from "@drover/kube";
import type { KeyReport, Run, SteppedTurn } from "@drover/queue";
import type { Announcement } from "@drover/runtime";
import type { FunctionUnderTest } from "./function-under-test.ts";
import { impatientTimers } from "./impatient-timers.ts";
import { followerOf, type Lane, lanesOf } from "./lane.ts";
import { beginLife, type Life } from "./life.ts";
import { openProxies } from "./proxies.ts";
import type { RunRecord } from "./run-record.ts";
import { steppedBridge } from "./stepped-bridge.ts";
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
  /** The same, as a URL. */
  readonly server: string;
  /** Every call of the function so far. */
  readonly calls: readonly Entry[];
  /** Those of the first life. */
  readonly controllers: readonly Controller[];
  readonly runs: readonly RunRecord[];
  readonly announcements: readonly Announcement[];
  /** Has the queues told of what has changed. */
  look(): Promise<void>;
  /** Runs the key whose turn it is; undefined when none is due. */
  step(): Promise<RunRecord | undefined>;
  /** By when their time comes. */
  waiting(): Promise<readonly WaitingKey[]>;
  /** Keys given up on. */
  parked(): Promise<readonly WaitingKey[]>;
  /** Wakes every object of the controllers' kinds, though nothing happened to it. */
  wakeAll(): Promise<void>;
  /** Kills the function's process; the next step begins another life. */
  kill(): void;
  close(): Promise<void>;
}

export interface StageOptions {
  readonly upstream: Upstream;
  /** Older states of the API server, by name, for faults to lead to. */
  readonly views?: Readonly<Record<string, Upstream>>;
  readonly start: FunctionUnderTest;
  /** Servers outside of the cluster, by the name under which the function finds them. */
  readonly outside?: Readonly<Record<string, string>>;
  /** What goes wrong with the function's calls, of the cluster and of servers outside. */
  readonly decider?: FaultDecider;
  readonly clock: VirtualClock;
  /** In [0, 1) */
  readonly random?: () => number;
  readonly log?: Log;
  /** Called when a fault kills the function. */
  readonly onKill?: () => void;
}

/** A run that takes longer, by the wall clock, waits for something that never comes. */
const longestRun: Milliseconds = 20_000;

/** A run did not end. */
export class StuckRunError extends Error {
  override readonly name = "StuckRunError";
}

/** The API server must serve the controllers' kinds before the first look. */
export async function openStage(options: StageOptions): Promise<Stage> {
  const { clock, start, log = silentLog, random = () => 0.5 } = options;
  const calls: Entry[] = [];
  const lives: Life[] = [];
  const proxies = await openProxies({
    ...options,
    calls,
    onKill: () => (lives.at(-1)?.die(), options.onKill?.()),
  });
  const client = await connect({ server: proxies.cluster.url, userAgent: "test", timers: impatientTimers });
  const living = async (): Promise<Life> => {
    const current = lives.at(-1);
    if (current?.isDead() === false) return current;
    const doors = await proxies.enter();
    const life = await beginLife({ start, doors, now: clock.date, requestTimeout: longestRun });
    lives.push(life);
    return life;
  };
  const { controllers } = await living();
  const announcements: Announcement[] = [];
  const laneOptions = {
    now: clock.now,
    random,
    log,
    announced: (one: Announcement) => void announcements.push(one),
  };
  const lanes = (await Promise.all(controllers.map((one) => lanesOf(one, laneOptions)))).flat();
  const queues = new Map(lanes.map(({ queue }) => [queue.controller, queue]));
  const bridge = steppedBridge({ client, followers: controllers.map(followerOf), queues });
  const runs: RunRecord[] = [];

  const perform = async (lane: Lane, turn: SteppedTurn): Promise<RunRecord> => {
    const life = await living();
    const { controller } = lane;
    const { key, token, claim, until } = turn;
    const from = calls.length;
    const held = (): boolean => !life.isDead() && clock.now() < until;
    const run: Run = { key, token, claim, signal: new AbortController().signal, held };
    const died = life.died.then(() => ({ kind: "killed" }) as const);
    const verdict = await inTime(Promise.race([lane.perform(life, run), died]), run);
    if (verdict.kind !== "killed") await lane.queue.settle(turn, verdict);
    const asksAgain = life.asksAgain(controller, key);
    const did = { number: runs.length + 1, calls: calls.slice(from) };
    const record = { ...did, controller, key, reasons: claim.reasons, verdict, asksAgain };
    runs.push(record);
    return record;
  };
  const reported = (of: "waiting" | "parked") => async (): Promise<readonly WaitingKey[]> => {
    const found = lanes.map(async ({ controller, queue }) =>
      (await queue[of]()).map((report) => ({
        ...{ controller, report },
        last: runs.findLast((run) => run.controller === controller && run.key === report.key),
      })),
    );
    return (await Promise.all(found)).flat().sort((a, b) => a.report.at - b.report.at);
  };
  return {
    ...{ client, server: proxies.cluster.url, controllers, calls, runs, announcements },
    kill: () => lives.at(-1)?.die(),
    async look() {
      await bridge.look();
    },
    async step() {
      for (const lane of lanes) {
        const turn = await lane.queue.take();
        if (turn !== undefined) return perform(lane, turn);
      }
      return undefined;
    },
    waiting: reported("waiting"),
    parked: reported("parked"),
    async wakeAll() {
      for (const { name, for: resource } of controllers) {
        const ref = refOf(resource);
        const objects = await listAll(client, ref);
        const about = {
          kind: nameOf(ref),
          resourceVersion: "0",
          reason: "Asked for",
          class: "change",
        } as const;
        await queues.get(name)?.wake(objects.map((object) => ({ key: keyOf(object), ...about })));
      }
    },
    async close() {
      await Promise.all([client.close(), ...lives.map((life) => life.close())]);
      await proxies.close();
    },
  };
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
