import type { Log, ObjectKey } from "@drover/controller";

/** A bell to be added: one due key, and the number that makes this ring unlike every other. */
export interface Bell {
  readonly key: ObjectKey;
  readonly number: string;
}

/** A run failed: its bell fails, so that dashboards show what an operator expects. */
export class RunFailedError extends Error {
  override readonly name = "RunFailedError";
  /** Not the bell's own where the run was handed over to whoever answered it. */
  readonly key: ObjectKey;

  constructor(key: ObjectKey, why: string) {
    super(why);
    this.key = key;
  }
}

/** Something that takes bells from the waiting list and hands them to a listener. */
export interface Listener {
  /** Take no more bells; resolves when those taken have been answered. */
  stop(): Promise<void>;
}

/**
 * What the ledger needs of BullMQ: to bring a bell to whichever worker is free. Bells are disposable: lost, doubled or
 * late ones never matter.
 */
export interface Bells {
  add(bells: readonly Bell[]): Promise<void>;
  /** Shows on dashboards that a run failed which no bell had asked for. */
  tell(failed: RunFailedError): Promise<void>;
  /** Of these bells, those that still wait to be taken. */
  waiting(bells: readonly Bell[]): Promise<readonly Bell[]>;
  /**
   * Answer bells as they come, `concurrency` at once. An answer that throws shows as a failed job on dashboards; a
   * `RunFailedError` under the key that it names.
   */
  listen(answer: (key: ObjectKey) => Promise<void>, concurrency: number): Listener;
  close(): Promise<void>;
}

/** Adds bells; those that do not get through are rung again by a ringer. */
export const addAtBest = (bells: Bells, rung: readonly Bell[], log: Log): Promise<void> =>
  bells.add(rung).catch((error: unknown) => log.debug({ err: error }, "Could not ring"));
