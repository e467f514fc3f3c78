import type { Owner, Pod, WorkloadRunContext } from "@drover/workloads";
import type { Indexes } from "./pods/indexes.ts";
import type { Job, JobObject } from "./job.ts";

/** The common parts of all steps of a run. */
export interface JobRunContext extends WorkloadRunContext<typeof Job> {
  readonly job: JobObject;
  readonly owner: Owner;
}

/** The pods of a Job, and their outcomes. */
export interface JobPods {
  readonly all: readonly Pod[];
  readonly active: readonly Pod[];
  readonly counts: PodCounts;
  /** Counted pods, with those that are to be counted in this run. */
  readonly succeeded: number;
  readonly failed: number;
  /** Empty unless the Job is Indexed. */
  readonly succeededIndexes: Indexes;
  /** Undefined without `backoffLimitPerIndex`. */
  readonly failedIndexes: Indexes | undefined;
  /**
   * By index, the pod that has failed last and is not replaced yet, with `backoffLimitPerIndex`: its replacement gets its
   * counts, so it stays until then.
   */
  readonly toReplace: ReadonlyMap<number, Pod>;
}

/** The counts of a status that are no totals. */
export interface PodCounts {
  readonly active: number;
  readonly ready: number;
  readonly terminating: number;
}
