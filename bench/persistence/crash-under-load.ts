import { objectKey, type ObjectKey, silentLog } from "@drover/controller";
import { connectRedis, disconnectRedis, openWorkQueue, type WakeClass, type WorkQueue } from "@drover/queue";
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Crashable } from "./settings.ts";

/** Callers that each wake one key after the other, as many streams of events do. */
const callers = 16;

export interface Load {
  /** How long it lasts until the kill, in ms, or longer. */
  readonly lasts: number;
  /** ms that each caller waits after each wake. */
  readonly pause: number;
}

export interface Crash {
  /** Keys with a wake that was acknowledged before the server was killed. */
  readonly acknowledged: number;
  /** Of these, those that did not run afterwards. */
  readonly lost: number;
  /** How long before the kill the oldest of these was acknowledged, in ms; 0 where none was lost. */
  readonly reach: number;
  /** True if the queue reported a new incarnation: wakes may be lost. */
  readonly reported: boolean;
  /** Of the acknowledged keys, those that did not run after everything was listed again. */
  readonly lostAfterRelist: number;
  readonly wakesPerSecond: number;
}

/**
 * Wakes ever new keys until the server is killed; then runs what is due, and counts by what the waker remembers.
 */
export async function crashUnderLoad(server: Crashable, load: Load): Promise<Crash> {
  const redis = await connectRedis({ url: server.url, clientName: "bench", log: silentLog });
  const incarnations: string[] = [];
  const queue = openWorkQueue({
    redis,
    controller: randomUUID(),
    log: silentLog,
    onIncarnation: (incarnation) => void incarnations.push(incarnation),
  });
  try {
    // The era of an empty ledger is no loss.
    await queue.stats(10_000);
    const { acknowledged, killedAt, wakesPerSecond } = await wakeUntilCrash(queue, server, load);
    const keys = [...acknowledged.keys()];
    const ran = new Set<ObjectKey>();
    const worker = queue.work((run) => (ran.add(run.key), Promise.resolve({ kind: "done" })), {
      concurrency: 64,
      timeout: 60_000,
    });
    const missing = (): readonly ObjectKey[] => keys.filter((key) => !ran.has(key));
    await untilIdle(queue);
    const lost = missing();
    const reach = Math.max(0, ...lost.map((key) => killedAt - (acknowledged.get(key) ?? killedAt)));
    ran.clear();
    const reported = incarnations.length > 0;
    if (reported) await queue.wake(keys.map((key) => wakeOf(key, "listing")));
    await untilIdle(queue);
    const lostAfterRelist = missing().length;
    await worker.drain(0);
    return { acknowledged: keys.length, lost: lost.length, reach, reported, lostAfterRelist, wakesPerSecond };
  } finally {
    await queue.close();
    await disconnectRedis(redis);
  }
}

/** Answers when each key's wake was acknowledged, and when the server was killed, as `performance.now()`. */
async function wakeUntilCrash(queue: WorkQueue, server: Crashable, { lasts, pause }: Load) {
  const acknowledged = new Map<ObjectKey, number>();
  let count = 0;
  let killedAt = Number.POSITIVE_INFINITY;
  const isUp = (): boolean => performance.now() < killedAt;
  const startedAt = performance.now();
  const call = async (): Promise<void> => {
    while (isUp()) {
      const key = objectKey({ namespace: "bench", name: `n${count++}` });
      await queue.wake([wakeOf(key, "change")]);
      if (isUp()) acknowledged.set(key, performance.now());
      await delay(pause);
    }
  };
  const calling = Promise.all(Array.from({ length: callers }, call));
  await delay(lasts);
  await server.crash(() => (killedAt = performance.now()));
  await calling;
  return { acknowledged, killedAt, wakesPerSecond: (acknowledged.size / (killedAt - startedAt)) * 1_000 };
}

/** Nothing due, nothing running. */
async function untilIdle(queue: WorkQueue): Promise<void> {
  for (;;) {
    const { due, running, scheduled } = await queue.stats(60_000);
    if (due + running + scheduled === 0) return;
    await delay(50);
  }
}

const wakeOf = (key: ObjectKey, of: WakeClass) => ({
  key,
  kind: "benches",
  resourceVersion: "1",
  reason: "Added",
  class: of,
});
