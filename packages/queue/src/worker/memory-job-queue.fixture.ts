import type { ObjectKey } from "@drover/controller";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { ClaimJob, JobQueue, JobConsumer } from "./job-queue.ts";

/** A consumer and its free capacity. */
interface Consumer {
  freeCapacity: number;
  readonly processJob: (key: ObjectKey) => Promise<void>;
  readonly running: Set<Promise<void>>;
}

/**
 * A job queue within this process: first in, first out, to any consumer with free capacity. The jobs are lost with the
 * process.
 */
export function openMemoryJobQueue(): JobQueue {
  const waiting = new Map<string, ClaimJob>();
  const consumers = new Set<Consumer>();
  const deliver = (): void => {
    for (const [name, { key }] of waiting) {
      const consumer = [...consumers].find(({ freeCapacity }) => freeCapacity > 0);
      if (!consumer) return;
      waiting.delete(name);
      // The consumer that has waited longest comes first.
      consumers.delete(consumer);
      consumers.add(consumer);
      start(consumer, key);
    }
  };
  const start = (consumer: Consumer, key: ObjectKey): void => {
    consumer.freeCapacity--;
    const run = processInOwnTurn(consumer, key).finally(() => {
      consumer.freeCapacity++;
      consumer.running.delete(run);
      deliver();
    });
    consumer.running.add(run);
  };
  return {
    add(jobs) {
      for (const job of jobs) waiting.set(jobName(job), job);
      deliver();
      return Promise.resolve();
    },
    addFailed: () => Promise.resolve(), // only dashboards need it, and this queue has none
    stillWaiting: (jobs) => Promise.resolve(jobs.filter((job) => waiting.has(jobName(job)))),
    consume(processJob, concurrency): JobConsumer {
      const consumer: Consumer = { freeCapacity: concurrency, processJob, running: new Set() };
      consumers.add(consumer);
      deliver();
      return {
        async stop() {
          consumers.delete(consumer);
          await Promise.all(consumer.running);
        },
      };
    },
    close() {
      waiting.clear();
      return Promise.resolve();
    },
  };
}

const jobName = ({ key, number }: ClaimJob): string => `${number} ${key}`;

/** Runs in its own turn of the event loop, like a job from Redis: runs that never wait must not block timers. */
async function processInOwnTurn({ processJob }: Consumer, key: ObjectKey): Promise<void> {
  await nextTurn();
  // Only dashboards show a failed job, and this queue has none.
  await processJob(key).catch(() => undefined);
}
