import type { ProxiedCall, CallRecord } from "../fault-proxy/index.ts";
import type { ResourceRef } from "@drover/kube";
import type { SteppedRun } from "../simulation/stepped-run.ts";
import type { ClusterSnapshot } from "./cluster-snapshot.ts";

/** One run of a scenario. */
export interface ScenarioRun {
  /** The results after each step; the first one is that before all steps. */
  readonly steps: readonly StepResult[];
  readonly runs: readonly SteppedRun[];
  /** The function's write requests, in order. */
  readonly writes: readonly ProxiedCall[];
  /** All requests of the function. */
  readonly calls: readonly CallRecord[];
  /** True if the plan's fault has occurred. */
  readonly hasFired: boolean;
  /** The kinds that were observed at the end. */
  readonly kinds: readonly ResourceRef[];
  /** The object that another client has changed, and the step. */
  readonly touched: { readonly uid: string; readonly step: number } | undefined;
  /** The resources that the controllers are for, by their names: `sites.example.com`. */
  readonly reconciled: ReadonlyMap<string, string>;
  /** The Events, as text. */
  readonly announced: readonly string[];
  /** The missing permissions, each with its remedy. */
  readonly missing: readonly string[];
  /** The reason why it ended early. */
  readonly problem: string | undefined;
}

export interface StepResult {
  /** Runs and calls until then. */
  readonly runs: number;
  readonly calls: number;
  /** Undefined if the step was not observed. */
  readonly snapshot: ClusterSnapshot | undefined;
  /** The keys with a failed last run, and the permissions that were missing until then. */
  readonly failing: readonly string[];
  /** Writes that were sent although nothing had changed. */
  readonly idle: readonly CallRecord[];
}
