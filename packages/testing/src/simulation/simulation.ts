import {
  type Announcement,
  type Controller,
  type Log,
  type Milliseconds,
  type ObjectKey,
  queueOf,
  silentLog,
} from "@drover/controller";
import type { CallRecord } from "../fault-proxy/index.ts";
import {
  connect,
  type KubeClient,
  keyOf,
  listAll,
  resourceNameOf,
  refOf,
  type ResourceRef,
} from "@drover/kube";
import type { KeyReport, Run } from "@drover/queue";
import type { SteppedAssignment } from "@drover/queue/memory";
import type { ApiAddress } from "../kubectl/api-address.ts";
import { immediateRetryTimers } from "../process/immediate-retry-timers.ts";
import { followerOf, type QueueUnderTest, queuesUnderTest } from "./queue-under-test.ts";
import type { FunctionProcess } from "../process/function-process.ts";
import {
  type FunctionProcesses,
  type FunctionProcessesOptions,
  openFunctionProcesses,
} from "../process/function-processes.ts";
import type { SteppedRun } from "./stepped-run.ts";
import { removeCreatedObjects } from "../kubectl/remove-created-objects.ts";
import { steppedBridge } from "./stepped-bridge.ts";
import type { Lister, TestServer } from "../test-server.ts";
import type { SteppedClock } from "./stepped-clock.ts";

/** A key that waits for a time, and what it did the last time that it ran. */
export interface WaitingKey {
  readonly controller: string;
  readonly report: KeyReport;
  readonly last: SteppedRun | undefined;
}

/**
 * A complete Drover in one process, one step at a time: an API server, the bridge's and the queue's rules, and a function
 * that can be killed. Runs start, and time passes, only by calls of these methods.
 */
export interface Simulation {
  /** The test's own way to the API server: no faults. */
  readonly client: KubeClient;
  /** The test's own way to look at all objects of a kind. */
  readonly lister: Lister;
  /** The same, for plain HTTP. */
  readonly server: ApiAddress;
  /** Every call of the function so far. */
  readonly calls: readonly CallRecord[];
  /** The controllers of the first process. */
  readonly controllers: readonly Controller[];
  /** The kinds that they follow, their own first. */
  readonly followed: readonly ResourceRef[];
  readonly runs: readonly SteppedRun[];
  readonly announcements: readonly Announcement[];
  /** Wakes the keys that changes since the last call concern. */
  observeChanges(): Promise<void>;
  /** Runs the first key that is due; undefined if none is. */
  runNext(): Promise<SteppedRun | undefined>;
  /** Runs a key, whether or not it is due, and leaves the queue as it is. */
  runOnce(controller: string, key: ObjectKey): Promise<SteppedRun>;
  /** By when their time comes. */
  waitingKeys(): Promise<readonly WaitingKey[]>;
  /** The missing permissions of refused calls, each with its remedy. */
  missingPermissions(): readonly string[];
  /** Wakes every object of the controllers' kinds, though nothing happened to it. */
  wakeAll(): Promise<void>;
  /** Kills the function's process; the next step starts another process. */
  kill(): void;
  close(): Promise<void>;
}

export interface SimulationOptions extends Omit<FunctionProcessesOptions, "now" | "requestTimeout"> {
  /** It is closed with the simulation. */
  readonly server: TestServer;
  readonly clock: SteppedClock;
  readonly log?: Log;
  /** Called before every run, with its number. */
  readonly beforeRun?: (number: number) => void;
}

/** A run that takes longer, by the wall clock, waits for something that never comes. */
const maxRunTime: Milliseconds = 20_000;

const requestedClaim = { fails: 0, reasons: ["Asked for"], class: "change", versions: {} } as const;
const requestedRun = { token: "once", claim: requestedClaim, until: Infinity };

/** A run did not end. */
export class StuckRunError extends Error {
  override readonly name = "StuckRunError";
}

/** The API server must serve the controllers' kinds before the first look. */
export async function openSimulation(options: SimulationOptions): Promise<Simulation> {
  const { clock, log = silentLog, server } = options;
  const processes = await openFunctionProcesses({ ...options, now: clock.date, requestTimeout: maxRunTime });
  const { server: address, calls } = processes;
  const { controllers, called } = await firstProcess(processes, server);
  const client = await connect({ ...address, userAgent: "test", timers: immediateRetryTimers });
  const announcements: Announcement[] = [];
  const onAnnouncement = (one: Announcement): void => void announcements.push(one);
  const queueing = { now: clock.now, random: () => 0.5, log, onAnnouncement };
  const allQueues = (await Promise.all(controllers.map((one) => queuesUnderTest(one, queueing)))).flat();
  const queues = new Map(allQueues.map(({ queue }) => [queue.controller, queue]));
  const { lister = client } = server;
  const followers = controllers.map((controller) => followerOf(controller, called));
  const bridge = steppedBridge({ client: lister, followers, queues });
  const runs: SteppedRun[] = [];
  const perform = async (one: QueueUnderTest, assignment: SteppedAssignment): Promise<SteppedRun> => {
    const number = runs.length + 1;
    options.beforeRun?.(number);
    const run = await runAssignment({ queueUnderTest: one, processes, assignment, now: clock.now });
    const record = { ...run, number };
    runs.push(record);
    return record;
  };
  return {
    client,
    lister,
    server: address,
    controllers,
    followed: followers.flatMap(({ follows }) => follows.map(({ ref }) => ref)),
    calls,
    runs,
    announcements,
    kill: () => processes.kill(),
    observeChanges: unlessUnchanged(async () => {
      await server.collected?.();
      await bridge.observeChanges();
    }, server.version),
    async runNext() {
      for (const queueUnderTest of allQueues) {
        const assignment = await queueUnderTest.queue.claimNext();
        if (assignment !== undefined) return perform(queueUnderTest, assignment);
      }
      return undefined;
    },
    runOnce: async (controller, key) => perform(queueFor(allQueues, controller), { ...requestedRun, key }),
    missingPermissions: () => processes.missingPermissions(),
    waitingKeys: () => waitingKeysOf(allQueues, runs),
    wakeAll: () => wakeAll(controllers, queues, lister),
    async close() {
      if (server.isShared) await removeCreatedObjects(address, processes.record);
      await client.close();
      await endBoth(processes, server);
    },
  };
}

async function wakeAll(
  controllers: Simulation["controllers"],
  queues: ReadonlyMap<string, QueueUnderTest["queue"]>,
  lister: Lister,
): Promise<void> {
  const wake = { resourceVersion: "0", reason: "Asked for", class: "change" } as const;
  for (const { name, for: resource } of controllers) {
    const ref = refOf(resource);
    const objects = await listAll(lister, ref);
    const wakes = objects.map((object) => ({ ...wake, key: keyOf(object), kind: resourceNameOf(ref) }));
    await queues.get(queueOf({ name }))?.wake(wakes);
  }
}

function queueFor(allQueues: readonly QueueUnderTest[], controller: string): QueueUnderTest {
  const found = allQueues.find(({ queue }) => queue.controller === queueOf({ name: controller }));
  if (found === undefined) throw new Error(`There is no controller ${controller}.`);
  return found;
}

async function endBoth(processes: FunctionProcesses, server: TestServer): Promise<void> {
  await processes.close();
  await server.close();
}

async function firstProcess(processes: FunctionProcesses, server: TestServer): Promise<FunctionProcess> {
  try {
    return await processes.current();
  } catch (error) {
    // Their listeners would keep the process from ending.
    await endBoth(processes, server);
    throw error;
  }
}

/** Looks, unless nothing can have changed since. */
function unlessUnchanged(look: () => Promise<unknown>, version: TestServer["version"]): () => Promise<void> {
  let seen: string | undefined;
  return async () => {
    const now = version?.();
    if (now !== undefined && now === seen) return;
    await look();
    seen = now;
  };
}

async function waitingKeysOf(allQueues: readonly QueueUnderTest[], runs: readonly SteppedRun[]) {
  const found = allQueues.map(async ({ controller, queue }) =>
    (await queue.waiting()).map((report): WaitingKey => ({
      controller,
      report,
      last: runs.findLast((run) => run.controller === controller && run.key === report.key),
    })),
  );
  return (await Promise.all(found)).flat().sort((a, b) => a.report.at - b.report.at);
}

interface PerformOptions {
  readonly queueUnderTest: QueueUnderTest;
  readonly processes: FunctionProcesses;
  readonly assignment: SteppedAssignment;
  readonly now: SteppedClock["now"];
}

/** One run, to its outcome or to its process' death; then its lease is left to end. */
async function runAssignment(options: PerformOptions): Promise<Omit<SteppedRun, "number">> {
  const { queueUnderTest, processes, assignment, now } = options;
  const process = await processes.current();
  const { calls } = processes;
  const { controller, queue } = queueUnderTest;
  const { key, token, claim, until } = assignment;
  const from = calls.length;
  const hasLease = (): boolean => !process.isDead() && now() < until;
  const signal = processes.running(controller);
  const run: Run = { key, token, claim, signal, hasLease };
  const died = process.died.then(() => ({ kind: "killed" }) as const);
  const outcome = await withTimeLimit(Promise.race([queueUnderTest.perform(process, run), died]), run);
  processes.running(undefined);
  if (outcome.kind !== "killed") await queue.settle(assignment, outcome);
  const requestsRequeue = outcome.kind === "done" && process.requestsRequeue(controller, key);
  return { controller, key, reasons: claim.reasons, outcome, requestsRequeue, calls: calls.slice(from) };
}

async function withTimeLimit<T>(ending: Promise<T>, { key }: Run): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const message =
      `The run of ${key} did not end within ${maxRunTime / 1_000} s by the wall clock. A function under test must not ` +
      "sleep: return requeueAfter, or throw a RetryAfterError.";
    late.reject(new StuckRunError(message));
  }, maxRunTime);
  return Promise.race([ending, late.promise]).finally(() => clearTimeout(timer));
}
