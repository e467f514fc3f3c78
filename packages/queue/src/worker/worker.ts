import type { ObjectKey } from "@drover/controller";
import { tryAddJobs, RunFailedError } from "./job-queue.ts";
import type { LeasedKey } from "../ledger/ledger.ts";
import { Slots } from "./slots.ts";
import { Runner, type WorkerParts } from "./runner.ts";
import type { QueueWorker, Run, RunOutcome, WorkOptions } from "../work-queue/work-queue.ts";

/** The most runs that one job leads to, so that no BullMQ job is active without end. */
const runsPerJob = 100;

/**
 * Starts a worker. It runs the keys that its idle slots are assigned, and processes jobs: it claims a job's key, runs
 * and settles it, and goes on with the keys that are chained to it, until none is due.
 */
export function startWorker(
  parts: WorkerParts,
  handler: (run: Run) => Promise<RunOutcome>,
  options: WorkOptions,
): QueueWorker {
  const { ledger, jobQueue, dispatcher, timers } = parts;
  const { version = 0, concurrency } = options;
  const underWay = new Set<Promise<void>>();
  const slots = new Slots({
    ...parts,
    worker: parts.newId(),
    version,
    concurrency,
    giveBack: (leased) => giveBack(parts, leased),
    run(leased) {
      const run = runner.run(leased, Infinity).catch((error: unknown) => showFailedRun(parts, error));
      underWay.add(run);
      void run.then(() => underWay.delete(run));
    },
  });
  const runner = new Runner({ ...parts, slots, handler, options });

  const processJob = async (key: ObjectKey): Promise<void> => {
    const token = await slots.acquire();
    const leased = token === undefined ? undefined : await claim(key, token);
    if (leased) await runner.run(leased, runsPerJob);
  };
  const claim = async (key: ObjectKey, token: string): Promise<LeasedKey | undefined> => {
    const askedAt = Math.floor(timers.now());
    const answer = await ledger.claim(key, token, version, askedAt).catch((error: unknown) => {
      slots.release(token);
      throw error;
    });
    if ("claimed" in answer) {
      slots.markClaimed(token);
      return answer.claimed;
    }
    if (answer.refused !== "slot taken") {
      slots.release(token);
      return undefined;
    }
    slots.markAssigned(token);
    const another = await slots.acquire();
    return another === undefined ? undefined : claim(key, another);
  };

  const registration = dispatcher.registerWorker(options);
  const consumer = jobQueue.consume(processJob, concurrency);
  return {
    active: () => runner.active,
    async drain(grace) {
      runner.drain();
      registration.drain(() => runner.active);
      const cancel = timers.after(grace, "the grace of a drain", () => runner.stopRuns());
      await Promise.all([slots.close(), consumer.stop()]);
      await Promise.all(underWay);
      cancel();
      runner.stopRuns(); // runs that a job taken before may still start
      await registration.unregister();
    },
  };
}

/** Gives back a key that was assigned to this process, but has no slot in it. */
async function giveBack({ ledger, jobQueue, log }: WorkerParts, { key, token }: LeasedKey): Promise<void> {
  try {
    const answer = await ledger.settle(key, token, { kind: "interrupted" });
    if (answer.kind === "settled") await tryAddJobs(jobQueue, answer.jobs, log);
  } catch (error) {
    log.warn({ key, err: error }, "Could not give a key back; its lease will end");
  }
}

/** Shows a failed run on dashboards. It was not started by a job, so no job fails. */
async function showFailedRun({ jobQueue, log }: WorkerParts, error: unknown): Promise<void> {
  if (!(error instanceof RunFailedError)) return; // already logged by the runner
  await jobQueue.addFailed(error).catch((cause: unknown) => {
    log.debug({ err: cause }, "Could not show that a run failed");
  });
}
