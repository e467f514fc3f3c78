import { type Log, messageOf, type Milliseconds, type ObjectKey, parseObjectKey } from "@drover/controller";
import { type IRedisClient, type Job, Queue, Worker } from "bullmq";
import type { RedisConnection } from "../redis/redis-servers.ts";
import { redisRefusalOf, throwRefusal } from "../redis/redis-errors.ts";
import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { type ClaimJob, type JobQueue, type JobConsumer, RunFailedError } from "../worker/job-queue.ts";
import { bullmqClient } from "./bullmq-client.ts";
import { maxFailedJobs } from "./bullmq-scripts.ts";

/**
 * Once no job is being processed, a stop waits at most this long for BullMQ to close its connections. BullMQ would wait
 * forever for one that is being reopened: ioredis does not report that such a connection has ended.
 */
const closeTimeout: Milliseconds = 1_000;
/**
 * Pause before BullMQ asks for the next job after an error. Its own is 15 s if the connection failed, otherwise none.
 */
const retryPause: Milliseconds = 500;

/**
 * `connectRedis` has checked the server's version. BullMQ would check it once per connection. If the user lacked the
 * permission at that moment, the connection would stay unusable, and its worker would take no more jobs.
 */
const connectionOptions = { skipVersionCheck: true } as const;
/** A job with `failed` asks for no run: it fails, with that text as its error. */
const jobData = z.object({ key: z.string().transform(parseObjectKey), failed: z.string().optional() });

/** BullMQ refuses `:` in job ids, and braces would change the hash slot. A digest contains neither. */
const jobIdOf = ({ key, number }: ClaimJob): string =>
  `${createHash("sha1").update(key).digest("hex").slice(0, 16)}-${number}`;

/**
 * Adds and takes the jobs of the BullMQ queue `<prefix>:jobs`.
 *
 * A job has one attempt, no delay and no backoff: the ledger does timers, retries and merging. Only the jobs that
 * report a failed run are deduplicated. While all workers get key after key from the ledger, they take no jobs, and one
 * job per failure would pile up.
 */
export function openBullmqJobQueue({
  redis,
  prefix,
  log,
}: {
  redis: RedisConnection;
  prefix: string;
  log: Log;
}): JobQueue {
  const connection = bullmqClient(redis);
  const queue = new Queue("jobs", { connection, prefix, skipMetasUpdate: true, ...connectionOptions });
  // BullMQ's connections fail when this one does, and `logOutages` logs that.
  const logError = (cause: Error): void => {
    const error = redisRefusalOf(cause) ?? cause;
    if (redis.status === "ready") log.warn({ err: error }, "BullMQ reports an error");
    else log.debug({ err: error }, "BullMQ reports an error while Redis is away");
  };
  queue.on("error", logError);
  const waitingStates = new Set(["waiting", "prioritized"]);
  return {
    async add(jobs) {
      // One by one: BullMQ's bulk call is one MULTI, and a cluster that is moving the slot would lose all of it.
      await Promise.all(
        jobs.map((job) =>
          queue.add(
            "claim",
            { key: job.key },
            { jobId: jobIdOf(job), attempts: 1, removeOnComplete: true, removeOnFail: maxFailedJobs },
          ),
        ),
      ).catch(throwRefusal);
    },
    async addFailed({ key, message }) {
      const jobId = jobIdOf({ key, number: String(Date.now()) });
      const deduplication = { id: jobIdOf({ key, number: "failed" }) };
      await queue
        .add(
          "claim",
          { key, failed: message },
          // eslint-disable-next-line no-restricted-syntax -- it asks for no run, so dropping it loses no wake
          { jobId, deduplication, attempts: 1, removeOnFail: maxFailedJobs },
        )
        .catch(throwRefusal);
    },
    async stillWaiting(jobs) {
      const states = await Promise.all(jobs.map((job) => queue.getJobState(jobIdOf(job))));
      return jobs.filter((_, i) => waitingStates.has(states[i] ?? "unknown"));
    },
    consume: (processJob, concurrency) => consume({ connection, prefix, processJob, concurrency, logError }),
    close: () => queue.close(),
  };
}

function consume(options: {
  connection: IRedisClient;
  prefix: string;
  processJob: (key: ObjectKey) => Promise<void>;
  concurrency: number;
  logError: (error: Error) => void;
}): JobConsumer {
  const { connection, prefix, processJob, concurrency, logError } = options;
  let processing = 0;
  const processBullmqJob = async (job: Job): Promise<void> => {
    const { key, failed } = jobData.parse(job.data);
    if (failed !== undefined) throw new RunFailedError(key, failed);
    processing++;
    try {
      await processJob(key);
    } catch (error) {
      if (error instanceof RunFailedError && error.key !== key) await job.updateData({ key: error.key });
      // BullMQ stores the message and the stack in Redis, so of other errors only the redacted message is passed on.
      throw error instanceof RunFailedError ? error : new Error(messageOf(error));
    } finally {
      processing--;
    }
  };
  // A job is not started again after its worker died: the key's lease in the ledger decides what happens next.
  const worker = new PausingWorker("jobs", processBullmqJob, {
    connection,
    prefix,
    concurrency,
    ...connectionOptions,
    maxStalledCount: 0,
    runRetryDelay: retryPause,
  });
  worker.on("error", logError);
  return {
    async stop() {
      const idle = Promise.withResolvers<undefined>();
      const timer = setInterval(() => processing === 0 && idle.resolve(undefined), closeTimeout);
      await Promise.race([worker.close(), idle.promise]).finally(() => clearInterval(timer));
    },
  };
}

/** Pauses after an error. If Redis is out of memory or denies the command, BullMQ would try again without a pause. */
class PausingWorker extends Worker {
  protected override async moveToActive(...asked: Parameters<Worker["moveToActive"]>) {
    try {
      return await super.moveToActive(...asked);
    } catch (error) {
      await delay(retryPause);
      throw error;
    }
  }
}
