import { objectKey, type ObjectKey } from "@drover/controller";
import type { ClaimJob } from "../worker/job-queue.ts";
import type { Ledger, LedgerEnvironment, LedgerDurations } from "../ledger/ledger.ts";
import type { RunOutcome } from "../work-queue/work-queue.ts";

/** Opens an empty ledger of one kind. */
export type OpenScenarioLedger = (options: LedgerDurations & Required<LedgerEnvironment>) => Ledger;

/** A ledger that gets client-go's calls, and a clock that stands still between them. */
export interface ScenarioQueue {
  readonly ledger: Ledger;
  now: number;
  /** Jobs that were returned and are not used yet. */
  readonly jobs: ClaimJob[];
  /** The results of runs in progress, as set so far, by key. */
  readonly running: Map<string, PendingOutcome>;
  /** Makes tokens and versions unique. */
  count: number;
}

interface PendingOutcome {
  readonly token: string;
  readonly failed: boolean;
  readonly againAt: number | undefined;
}

/** The values that scenarios check after each step. */
export interface QueueReading {
  readonly length: number;
  readonly waiting: Readonly<Record<string, number>>;
  readonly requeues?: number;
}

/** Longer than any scenario. */
const longTime = 1e9;
const recoveryWindow = 1;
const keyOf = (name: string): ObjectKey => objectKey({ name });

export async function scenarioQueue(
  open: OpenScenarioLedger,
  backoff: { readonly first: number; readonly longest: number },
): Promise<ScenarioQueue> {
  const ledger = open({
    lease: longTime,
    recoveryWindow,
    now: () => queue.now,
    server: () => "server",
    random: () => 1, // the full window: client-go's limiter does not spread
  });
  const queue: ScenarioQueue = { ledger, now: 1_000_000, jobs: [], running: new Map(), count: 0 };
  await ledger.registerWorker({
    worker: "w",
    slots: 100,
    version: 0,
    lasts: 2 * longTime,
    backoff,
    accounts: {},
  });
  queue.now += recoveryWindow;
  return queue;
}

export async function add(queue: ScenarioQueue, name: string): Promise<void> {
  const resourceVersion = String(++queue.count);
  const wake = { key: keyOf(name), kind: "k", resourceVersion, reason: "add", class: "change" } as const;
  queue.jobs.push(...(await queue.ledger.wake([wake])));
}

/** Claims the next key that can run; null if client-go's Get would block. */
export async function get(queue: ScenarioQueue): Promise<string | null> {
  await advance(queue, 0);
  for (let job = queue.jobs.shift(); job; job = queue.jobs.shift()) {
    if (await claim(queue, job.key)) return job.key;
  }
  return null;
}

/** Sets a result of a run, which is settled as one outcome when it is done. A key that is not running is run for it. */
export async function setResult(
  queue: ScenarioQueue,
  name: string,
  result: { readonly failed: boolean } | { readonly runAgainIn: number },
): Promise<void> {
  const { running, jobs, now } = queue;
  const pending = running.get(name);
  if (pending) {
    running.set(name, {
      ...pending,
      ...("runAgainIn" in result ? { againAt: now + result.runAgainIn } : result),
    });
    return;
  }
  await add(queue, name);
  const jobIndex = jobs.findIndex(({ key }) => key === name);
  if (jobIndex >= 0) jobs.splice(jobIndex, 1);
  if (!(await claim(queue, name))) return;
  await setResult(queue, name, result);
  await done(queue, name);
}

export async function done(queue: ScenarioQueue, name: string): Promise<void> {
  const { ledger, running, jobs, now } = queue;
  const pending = running.get(name);
  running.delete(name);
  if (!pending) return;
  const answer = await ledger.settle(keyOf(name), pending.token, outcomeOf(pending, now));
  if (answer.kind === "settled") jobs.push(...answer.jobs);
}

export async function advance(queue: ScenarioQueue, ms: number): Promise<void> {
  queue.now += ms;
  queue.jobs.push(...(await queue.ledger.dispatch()).jobs);
}

/** True if it runs, or would if a worker were idle. */
export async function isDue({ ledger }: ScenarioQueue, name: string): Promise<boolean> {
  const { state } = (await ledger.inspect(keyOf(name))).key;
  return state === "ready" || state === "dispatched" || state === "leased";
}

export async function readQueue(
  { ledger, now }: ScenarioQueue,
  name: string | undefined,
): Promise<QueueReading> {
  const { due: length } = await ledger.count();
  const waits = (await ledger.list("waits", 100)).keys;
  const waiting = Object.fromEntries(waits.map(({ key, at }) => [key, at - now] as const));
  if (name === undefined) return { length, waiting };
  return { length, waiting, requeues: (await ledger.inspect(keyOf(name))).key.fails };
}

async function claim({ ledger, running, count }: ScenarioQueue, name: string): Promise<boolean> {
  const token = `run ${count} of ${name}`;
  if ("refused" in (await ledger.claim(keyOf(name), token))) return false;
  running.set(name, { token, failed: false, againAt: undefined });
  return true;
}

function outcomeOf({ failed, againAt }: PendingOutcome, now: number): RunOutcome {
  if (failed) return { kind: "retry", error: "failed" };
  return againAt === undefined ? { kind: "done" } : { kind: "done", after: Math.max(0, againAt - now) };
}
