import type { Log, Milliseconds, ObjectKey } from "@drover/controller";
import { randomUUID } from "node:crypto";
import { addAtBest, type Bells, RunFailedError } from "./bells.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";
import type { Ledger } from "./ledger.ts";
import { performRun, StoppingError, type Turn } from "./perform-run.ts";
import type { Ringer } from "./ringer.ts";
import { settleSurely } from "./settle-surely.ts";
import type { QueueWorker, Run, Verdict, WorkOptions } from "./work-queue.ts";

/** So many runs at most answer one bell, so that no job of BullMQ's is active without end. */
const runsPerBell = 100;

export interface WorkerParts {
  readonly ledger: Ledger;
  readonly bells: Bells;
  readonly ringer: Ringer;
  readonly leases: LeaseKeeper;
  readonly lease: Milliseconds;
  readonly log: Log;
}

/** A run that has come to its verdict, since when it was asked for, and whether its bell may be answered by another one. */
interface Ended {
  readonly run: Run;
  readonly verdict: Verdict;
  readonly since: number;
  readonly goOn: boolean;
}

/** Answers bells: claim, run, settle, and run what is handed over, until nothing is due. */
export function startWorker(
  parts: WorkerParts,
  handler: (run: Run) => Promise<Verdict>,
  options: WorkOptions,
): QueueWorker {
  const { ledger, bells, ringer, leases, log } = parts;
  const { version = 0, timeout } = options;
  const running = new Set<AbortController>();
  let draining = false;
  /** Why every run is stopped, once the grace is over. */
  let givenUp: StoppingError | undefined;

  const answer = async (key: ObjectKey): Promise<void> => {
    let turn = await claim(ledger, key, version);
    for (let runs = 1; turn; runs++) turn = await take(turn, runs < runsPerBell);
  };

  /** Answers the key that was handed over in return, if any. */
  const take = async (turn: Turn, goOn: boolean): Promise<Turn | undefined> => {
    const stop = new AbortController();
    if (givenUp) stop.abort(givenUp); // while it was asked for
    running.add(stop);
    try {
      const { run, verdict } = await performRun(turn, handler, { leases, timeout, stop });
      return await settle({ run, verdict, since: turn.askedAt, goOn });
    } finally {
      running.delete(stop);
    }
  };

  const settle = async ({ run, verdict, since, goOn }: Ended): Promise<Turn | undefined> => {
    const askedAt = performance.now();
    const duration = askedAt - since;
    const failed = verdict.kind === "retry" || verdict.kind === "terminal";
    const next = failed || draining || !goOn ? undefined : { token: randomUUID(), version };
    const answer = await settleSurely(parts, { run, verdict, duration, next });
    if (answer.kind === "stale") return undefined;
    if (answer.dueIn !== undefined) ringer.expect(answer.dueIn);
    await addAtBest(bells, answer.bells, log);
    options.onSettled?.(run, verdict, duration);
    if (failed) throw new RunFailedError(run.key, verdict.error);
    return next && answer.handed && { ...answer.handed, token: next.token, askedAt };
  };

  const enlisted = ringer.enlist(options);
  const listener = bells.listen(answer, options.concurrency);
  return {
    active: () => running.size,
    async drain(grace) {
      draining = true;
      enlisted.leaves(() => running.size);
      const giveUp = (): void => {
        givenUp = new StoppingError("The process is stopping.");
        for (const stop of running) stop.abort(givenUp);
      };
      const timer = setTimeout(giveUp, grace);
      await listener.stop();
      clearTimeout(timer);
      giveUp(); // what may come of a bell that was taken before
      await enlisted.end();
    },
  };
}

async function claim(ledger: Ledger, key: ObjectKey, version: number): Promise<Turn | undefined> {
  const token = randomUUID();
  const askedAt = performance.now();
  const outcome = await ledger.claim(key, token, version);
  return "claimed" in outcome ? { key, token, claim: outcome.claimed, askedAt } : undefined;
}
