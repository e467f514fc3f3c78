/** How much is measured, and for how long. Times in ms. */
export interface Plan {
  /** Keys due. */
  readonly depths: readonly number[];
  /** Interleaved: Drover, BullMQ, Redis, Drover, ... */
  readonly rounds: number;
  /** Runs at once in each worker process. */
  readonly concurrencies: readonly number[];
  /** Worker processes. */
  readonly processes: readonly number[];
  /** A window of runs, after its warm-up. */
  readonly warmUp: number;
  readonly window: number;
  /** A window of wakes: this long, or this many. */
  readonly wakeWindow: number;
  readonly wakesAtMost: number;
  /** Single wakes of an idle queue, per round. */
  readonly idleWakes: number;
  readonly profile: number;
  /** Killed worker processes, and how many at a time. */
  readonly kills: { readonly drover: number; readonly bullmq: number; readonly atOnce: number };
  readonly redisKills: number;
  readonly wakesDuringRun: number;
}

/** Under six minutes on two cores. */
export const full: Plan = {
  depths: [10, 1_000, 100_000],
  rounds: 3,
  concurrencies: [16, 64, 256],
  processes: [1, 2, 4],
  warmUp: 100,
  window: 350,
  wakeWindow: 250,
  wakesAtMost: 10_000,
  idleWakes: 100,
  profile: 2_000,
  kills: { drover: 50, bullmq: 10, atOnce: 25 },
  redisKills: 6,
  wakesDuringRun: 120,
};

/** Under a minute: shows that everything works, with figures that mean little. */
export const quick: Plan = {
  ...full,
  depths: [10, 1_000, 10_000],
  rounds: 1,
  concurrencies: [64],
  processes: [1, 2],
  window: 250,
  wakeWindow: 100,
  wakesAtMost: 3_000,
  idleWakes: 30,
  profile: 800,
  kills: { drover: 8, bullmq: 0, atOnce: 8 },
  redisKills: 1,
  wakesDuringRun: 30,
};
