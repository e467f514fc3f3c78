import type { ObjectKey } from "@drover/controller";

/** The contenders, in the order of their turns. */
export const contenderNames = ["drover", "bullmq", "redis"] as const;
/** One more for one question only: BullMQ configured to fold adds of one key. */
export type ContenderName = (typeof contenderNames)[number] | "bullmq-deduplicated";

export const titles: Readonly<Record<ContenderName, string>> = {
  drover: "Drover",
  bullmq: "bare BullMQ",
  redis: "bare Redis",
  "bullmq-deduplicated": "BullMQ, deduplicated",
};

/** What a run came to. `failed` and `later` ask to be run again after `againAfter`. */
export const outcomes = ["done", "failed", "later"] as const;
export type Outcome = (typeof outcomes)[number];
/** ms. */
export const againAfter = 1_000;

export type Handler = (key: string) => Promise<Outcome>;

/** A queue under measure: the least that all of them can do. */
export interface Contender {
  /** One call; resolves when the keys are on the server. */
  wake(keys: readonly ObjectKey[]): Promise<void>;
  /** Resolves when keys are being taken. */
  work(handler: Handler, concurrency: number): Promise<Working>;
  close(): Promise<void>;
}

export interface Working {
  /** Take no more keys; resolves when the runs under way have ended. */
  stop(): Promise<void>;
}

/** A process wakes keys, as a bridge does, or runs them, as a function does. */
export type Role = "producer" | "worker";

export interface Where {
  /** `redis://127.0.0.1:PORT` */
  readonly url: string;
  readonly queue: string;
  readonly role: Role;
}
