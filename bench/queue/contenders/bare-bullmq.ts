import type { ObjectKey } from "@drover/controller";
import { DelayedError, type JobsOptions, Queue, Worker } from "bullmq";
import { againAfter, type Contender, type Handler, type Where, type Working } from "./contender.ts";

interface KeyJob {
  readonly key: ObjectKey;
}

const once: JobsOptions = { attempts: 1, removeOnComplete: true, removeOnFail: 1_000 };

/** BullMQ with its defaults, jobs that carry a key and leave nothing behind: every add is a run. */
export const openBareBullmq = (where: Where): Contender => openBullmq(where, () => once);

/** BullMQ configured as a controller's queue as well as it allows: adds of one key fold, failures back off. */
export const openDeduplicatedBullmq = (where: Where): Contender =>
  openBullmq(where, (key) => ({
    ...once,
    attempts: 1_000,
    backoff: { type: "fixed", delay: againAfter },
    deduplication: { id: key, keepLastIfActive: true, reschedule: true },
  }));

function openBullmq({ url, queue: name }: Where, optionsOf: (key: ObjectKey) => JobsOptions): Contender {
  const { hostname: host, port } = new URL(url);
  const connection = { host, port: Number(port) };
  const queue = new Queue<KeyJob>(name, { connection });
  queue.on("error", ignore);
  const jobOf = (key: ObjectKey) => ({ name: "reconcile", data: { key }, opts: optionsOf(key) });
  return {
    async wake(keys) {
      const [first] = keys;
      if (keys.length > 1) await queue.addBulk(keys.map(jobOf));
      else if (first !== undefined) await queue.add("reconcile", { key: first }, optionsOf(first));
    },
    work: (handler, concurrency) =>
      work(new Worker<KeyJob>(name, answer(handler), { connection, concurrency })),
    close: () => queue.close(),
  };
}

async function work(worker: Worker<KeyJob>): Promise<Working> {
  worker.on("error", ignore);
  await worker.waitUntilReady();
  return { stop: () => worker.close() };
}

/** It reconnects by itself. */
const ignore = (): void => {};

type Processor = (
  job: { data: KeyJob; moveToDelayed(at: number, token?: string): Promise<void> },
  token?: string,
) => Promise<void>;

/** For each outcome, the call that BullMQ's manual describes. */
function answer(handler: Handler): Processor {
  return async (job, token) => {
    const outcome = await handler(job.data.key);
    switch (outcome) {
      case "done":
        return;
      case "failed":
        throw new Error("as the bench asked");
      case "later":
        await job.moveToDelayed(Date.now() + againAfter, token);
        throw new DelayedError();
    }
  };
}
