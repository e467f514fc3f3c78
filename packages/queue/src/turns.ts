import { addAtBest, RunFailedError } from "./bells.ts";
import { performRun, StoppingError, type Turn } from "./perform-run.ts";
import { settleSurely } from "./settle-surely.ts";
import type { Slots } from "./slots.ts";
import type { Arrival, Run, Verdict, WorkOptions } from "./work-queue.ts";
import type { WorkerParts } from "./worker.ts";

export interface TurnsParts extends WorkerParts {
  readonly slots: Slots;
  readonly handler: (run: Run) => Promise<Verdict>;
  readonly options: WorkOptions;
}

/** A finished run. */
interface Ended {
  readonly run: Run;
  readonly verdict: Verdict;
  /** The slot that it took. */
  readonly slot: string;
  readonly by: Arrival;
  /** When it began, by `timers.now()`. */
  readonly since: number;
  /** True if another key may be chained to it. */
  readonly goOn: boolean;
}

/** Runs the keys of a worker's slots: each one to its outcome, and then the key that is chained to the run. */
export class Turns {
  readonly #parts: TurnsParts;
  readonly #running = new Set<AbortController>();
  #draining = false;
  /** Set once the grace period is over: the reason for which every run is stopped. */
  #givenUp: StoppingError | undefined;

  constructor(parts: TurnsParts) {
    this.#parts = parts;
  }

  /** Number of runs in progress. */
  get active(): number {
    return this.#running.size;
  }

  /**
   * Runs a key, and those that are chained to it, at most `most` in all.
   *
   * @throws RunFailedError if a run failed: no key is chained to a failed run.
   */
  async run(first: Turn, most: number): Promise<void> {
    let turn: Turn | undefined = first;
    for (let runs = 1; turn; runs++) turn = await this.#take(turn, runs < most);
  }

  /** From now on no key is chained to a run. */
  drain(): void {
    this.#draining = true;
  }

  /** Stops the runs in progress, and those that begin later. */
  giveUp(): void {
    this.#givenUp = new StoppingError("The process is stopping.");
    for (const stop of this.#running) stop.abort(this.#givenUp);
  }

  async #take(turn: Turn, goOn: boolean): Promise<Turn | undefined> {
    const { handler, leases, timers, options } = this.#parts;
    const stop = new AbortController();
    if (this.#givenUp) stop.abort(this.#givenUp); // while this key was on its way
    this.#running.add(stop);
    const since = timers.now();
    try {
      const { run, verdict } = await performRun(turn, handler, {
        leases,
        timeout: options.timeout,
        timers,
        stop,
      });
      return await this.#settle({ run, verdict, since, goOn, slot: turn.slot, by: turn.by });
    } finally {
      this.#running.delete(stop);
    }
  }

  async #settle({ run, verdict, slot, by, since, goOn }: Ended): Promise<Turn | undefined> {
    const { slots, ringer, bells, timers, log, options } = this.#parts;
    const askedAt = timers.now();
    const duration = askedAt - since;
    const failed = verdict.kind === "retry" || verdict.kind === "terminal";
    const next = failed || this.#draining || !goOn ? undefined : slots.next(slot);
    const answer = await settleSurely(this.#parts, { run, verdict, duration, next }).catch(
      (error: unknown) => {
        slots.free(slot, next);
        throw error;
      },
    );
    if (!next || answer.kind === "stale") slots.free(slot, next);
    else if (answer.handed) slots.handed(slot, next);
    else slots.offered(slot, next);
    if (answer.kind === "stale") return undefined;
    if (answer.dueIn !== undefined) ringer.expect(answer.dueIn);
    await addAtBest(bells, answer.bells, log);
    options.onSettled?.(run, verdict, duration, by);
    if (failed) throw new RunFailedError(run.key, verdict.error);
    return (
      next &&
      answer.handed && { ...answer.handed, token: next.token, slot: next.token, askedAt, by: "handed" }
    );
  }
}
