import type { ClaimJob } from "../../packages/queue/src/worker/job-queue.ts";

/** The ledger's use of BullMQ, reduced to three methods: jobs are added, taken, and completed. */
export interface Jobs {
  add(jobs: readonly ClaimJob[]): void;
  next(): ClaimJob | undefined;
  done(job: ClaimJob): void;
}

/** Jobs that a schedule can lose and double. */
export interface SimulatedJobs extends Jobs {
  /** True if this job still waits to be taken. */
  waits(job: ClaimJob): boolean;
  lose(): void;
  double(): void;
  readonly size: number;
  /** The most jobs that waited at once for one key. */
  readonly mostOfOneKey: number;
}

export function simulatedJobs(): SimulatedJobs {
  const waiting: ClaimJob[] = [];
  const same = (a: ClaimJob) => (b: ClaimJob) => a.key === b.key && a.number === b.number;
  let most = 0;
  return {
    add(jobs) {
      // As BullMQ does, which drops a job whose id it knows.
      for (const job of jobs) if (!waiting.some(same(job))) waiting.push(job);
      for (const { key } of jobs) most = Math.max(most, waiting.filter((job) => job.key === key).length);
    },
    next: () => waiting.shift(),
    done: () => undefined,
    waits: (job) => waiting.some(same(job)),
    lose: () => void waiting.splice(0, Math.ceil(waiting.length / 2)),
    double: () => void waiting.push(...waiting),
    get size() {
      return waiting.length;
    },
    get mostOfOneKey() {
      return most;
    },
  };
}
