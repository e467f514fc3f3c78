import { type Log, messageOf, type Milliseconds, type ObjectKey, parseObjectKey } from "@drover/controller";
import { type IRedisClient, type Job, Queue, Worker } from "bullmq";
import type { RedisConnection } from "./redis-connection.ts";
import { refusalOf, throwRefusal } from "./redis-errors.ts";
import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { type Bell, type Bells, type Listener, RunFailedError } from "./bells.ts";
import { bullmqClient } from "./bullmq-client.ts";
import { failedBellsKept } from "./bullmq-scripts.ts";

/**
 * How long BullMQ may take to let go of its connections when nothing is answered any more. One that is just being made
 * anew it would wait for without end: ioredis does not say of such a one that it has ended.
 */
const letGo: Milliseconds = 1_000;
/** After an error BullMQ asks for a bell again after this time. Its own is 15 s where the connection failed, and else none at all. */
const askAgain: Milliseconds = 500;

/**
 * `connectRedis` has looked at the server's version. BullMQ asks once for each connection; one that is refused, since
 * our user may not ask just then, is dead for good, and its worker stands still.
 */
const connecting = { skipVersionCheck: true } as const;
/** With `failed` it rings for nothing, but fails, with that text. */
const jobData = z.object({ key: z.string().transform(parseObjectKey), failed: z.string().optional() });

/** BullMQ refuses `:` in job ids and braces would move the hash slot; a digest has neither. */
const jobIdOf = ({ key, number }: Bell): string =>
  `${createHash("sha1").update(key).digest("hex").slice(0, 16)}-${number}`;

/**
 * Bells as BullMQ jobs in the queue `<prefix>:bells`.
 *
 * One attempt, no delay, no backoff: timers, retries and folding are the ledger's. Only what tells of a failed run is
 * deduplicated: where all workers are handed key after key, nobody asks for bells, and one for each failure would pile up.
 */
export function bullmqBells({
  redis,
  prefix,
  log,
}: {
  redis: RedisConnection;
  prefix: string;
  log: Log;
}): Bells {
  const connection = bullmqClient(redis);
  const queue = new Queue("bells", { connection, prefix, skipMetasUpdate: true, ...connecting });
  // Its connections fail when ours does, and ours says so.
  const failed = (cause: Error): void => {
    const error = refusalOf(cause) ?? cause;
    if (redis.status === "ready") log.warn({ err: error }, "BullMQ reports an error");
    else log.debug({ err: error }, "BullMQ reports an error while Redis is away");
  };
  queue.on("error", failed);
  const waitingStates = new Set(["waiting", "prioritized"]);
  return {
    async add(bells) {
      // One by one: BullMQ adds several in one MULTI, which a cluster that moves a slot loses as a whole.
      await Promise.all(
        bells.map((bell) =>
          queue.add(
            "bell",
            { key: bell.key },
            { jobId: jobIdOf(bell), attempts: 1, removeOnComplete: true, removeOnFail: failedBellsKept },
          ),
        ),
      ).catch(throwRefusal);
    },
    async tell({ key, message }) {
      const jobId = jobIdOf({ key, number: String(Date.now()) });
      const deduplication = { id: jobIdOf({ key, number: "failed" }) };
      await queue
        .add(
          "bell",
          { key, failed: message },
          // eslint-disable-next-line no-restricted-syntax -- it rings for nothing: what is dropped is no wake
          { jobId, deduplication, attempts: 1, removeOnFail: failedBellsKept },
        )
        .catch(throwRefusal);
    },
    async waiting(bells) {
      const states = await Promise.all(bells.map((bell) => queue.getJobState(jobIdOf(bell))));
      return bells.filter((_, i) => waitingStates.has(states[i] ?? "unknown"));
    },
    listen: (answer, concurrency) => listen({ connection, prefix, answer, concurrency, failed }),
    close: () => queue.close(),
  };
}

function listen(options: {
  connection: IRedisClient;
  prefix: string;
  answer: (key: ObjectKey) => Promise<void>;
  concurrency: number;
  failed: (error: Error) => void;
}): Listener {
  const { connection, prefix, answer, concurrency, failed } = options;
  let answering = 0;
  const answered = async (job: Job): Promise<void> => {
    const { key, failed } = jobData.parse(job.data);
    if (failed !== undefined) throw new RunFailedError(key, failed);
    answering++;
    try {
      await answer(key);
    } catch (error) {
      if (error instanceof RunFailedError && error.key !== key) await job.updateData({ key: error.key });
      // BullMQ keeps message and stack in Redis.
      throw error instanceof RunFailedError ? error : new Error(messageOf(error));
    } finally {
      answering--;
    }
  };
  // A bell whose worker died is of no use any more: the ledger's lease says what happens to its key.
  const worker = new PatientWorker("bells", answered, {
    connection,
    prefix,
    concurrency,
    ...connecting,
    maxStalledCount: 0,
    runRetryDelay: askAgain,
  });
  worker.on("error", failed);
  return {
    async stop() {
      const idle = Promise.withResolvers<undefined>();
      const timer = setInterval(() => answering === 0 && idle.resolve(undefined), letGo);
      await Promise.race([worker.close(), idle.promise]).finally(() => clearInterval(timer));
    },
  };
}

/** What Redis refuses, as a full one does, or to a user who may not ask, BullMQ would ask again without any pause. */
class PatientWorker extends Worker {
  protected override async moveToActive(...asked: Parameters<Worker["moveToActive"]>) {
    try {
      return await super.moveToActive(...asked);
    } catch (error) {
      await delay(askAgain);
      throw error;
    }
  }
}
