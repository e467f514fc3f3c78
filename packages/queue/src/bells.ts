import type { ObjectKey } from "@drover/controller";

/** A bell to be added: one due key, and the number that makes this ring unlike every other. */
export interface Bell {
  readonly key: ObjectKey;
  readonly number: string;
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
  /** Of these bells, those that still wait to be taken. */
  waiting(bells: readonly Bell[]): Promise<readonly Bell[]>;
  /** Answer bells as they come, `concurrency` at once. An answer that throws shows as a failed job on dashboards. */
  listen(answer: (key: ObjectKey) => Promise<void>, concurrency: number): Listener;
  close(): Promise<void>;
}
