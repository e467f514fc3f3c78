import type { Log, Milliseconds, ObjectKey } from "@drover/controller";
import type { Timers } from "@drover/timers";
import { addAtBest, type Bells, RunFailedError } from "./bells.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";
import type { Given, Ledger } from "./ledger.ts";
import type { Turn } from "./perform-run.ts";
import type { Ringer } from "./ringer.ts";
import { Slots } from "./slots.ts";
import { Turns } from "./turns.ts";
import type { QueueWorker, Run, Verdict, WorkOptions } from "./work-queue.ts";

/** The most runs that one job leads to, so that no BullMQ job is active without end. */
const runsPerBell = 100;

export interface WorkerParts {
  readonly ledger: Ledger;
  readonly bells: Bells;
  readonly ringer: Ringer;
  readonly leases: LeaseKeeper;
  readonly lease: Milliseconds;
  /** Leases and advertised slots are renewed this often. */
  readonly renewal: Milliseconds;
  readonly timers: Timers;
  /** Makes a unique name for a worker, a slot or a run. */
  readonly newId: () => string;
  readonly log: Log;
}

/**
 * Starts a worker. It runs the keys that its idle slots are assigned, and processes jobs: it claims a job's key, runs
 * and settles it, and goes on with the keys that are chained to it, until none is due.
 */
export function startWorker(
  parts: WorkerParts,
  handler: (run: Run) => Promise<Verdict>,
  options: WorkOptions,
): QueueWorker {
  const { ledger, bells, ringer, timers } = parts;
  const { version = 0, concurrency } = options;
  const underWay = new Set<Promise<void>>();
  const slots = new Slots({
    ...parts,
    worker: parts.newId(),
    version,
    concurrency,
    giveBack: (given) => giveBack(parts, given),
    run(turn) {
      const run = turns.run(turn, Infinity).catch((error: unknown) => show(parts, error));
      underWay.add(run);
      void run.then(() => underWay.delete(run));
    },
  });
  const turns = new Turns({ ...parts, slots, handler, options });

  const answer = async (key: ObjectKey): Promise<void> => {
    const token = await slots.take();
    const turn = token === undefined ? undefined : await claim(key, token);
    if (turn) await turns.run(turn, runsPerBell);
  };
  const claim = async (key: ObjectKey, token: string): Promise<Turn | undefined> => {
    const askedAt = timers.now();
    const outcome = await ledger.claim(key, token, version).catch((error: unknown) => {
      slots.free(token);
      throw error;
    });
    if ("claimed" in outcome) {
      slots.claimed(token);
      return { key, token, slot: token, claim: outcome.claimed, askedAt, by: "rung" };
    }
    if (outcome.refused !== "slot taken") {
      slots.free(token);
      return undefined;
    }
    slots.wasGiven(token);
    const another = await slots.take();
    return another === undefined ? undefined : claim(key, another);
  };

  const enlisted = ringer.enlist(options);
  const listener = bells.listen(answer, concurrency);
  return {
    active: () => turns.active,
    async drain(grace) {
      turns.drain();
      enlisted.leaves(() => turns.active);
      const cancel = timers.after(grace, "the grace of a drain", () => turns.giveUp());
      await Promise.all([slots.close(), listener.stop()]);
      await Promise.all(underWay);
      cancel();
      turns.giveUp(); // runs that a job taken before may still start
      await enlisted.end();
    },
  };
}

/** Gives back a key that was assigned to this process, but has no slot in it. */
async function giveBack({ ledger, bells, log }: WorkerParts, { key, token }: Given): Promise<void> {
  try {
    const answer = await ledger.settle(key, token, { kind: "interrupted" });
    if (answer.kind === "settled") await addAtBest(bells, answer.bells, log);
  } catch (error) {
    log.warn({ key, err: error }, "Could not give a key back; its lease will end");
  }
}

/** Shows a failed run on dashboards. It was not started by a job, so no job fails. */
async function show({ bells, log }: WorkerParts, error: unknown): Promise<void> {
  if (!(error instanceof RunFailedError)) return; // already logged by settleSurely
  await bells.tell(error).catch((cause: unknown) => {
    log.debug({ err: cause }, "Could not show that a run failed");
  });
}
