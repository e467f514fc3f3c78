import type { ProxiedCall, CallRecord } from "../fault-proxy/index.ts";
import type { ResourceRef } from "@drover/kube";
import type { SteppedRun } from "../simulation/stepped-run.ts";
import type { ClusterSnapshot } from "./cluster-snapshot.ts";

/** A scenario, lived through once. */
export interface ScenarioRun {
  /** What was there after each step, the first being what was there before any. */
  readonly steps: readonly StepResult[];
  readonly runs: readonly SteppedRun[];
  /** The requests of the function that were to change something, in order. */
  readonly writes: readonly ProxiedCall[];
  /** All requests of the function. */
  readonly calls: readonly CallRecord[];
  /** The plan's fault has met what it was meant for. */
  readonly hasFired: boolean;
  /** The kinds that were looked at in the end. */
  readonly kinds: readonly ResourceRef[];
  /** The object that somebody else has changed at the wrong moment, and in which step. */
  readonly touched: { readonly uid: string; readonly step: number } | undefined;
  /** The resources that the controllers are for, by their names: `sites.example.com`. */
  readonly reconciled: ReadonlyMap<string, string>;
  /** What was said in Events. */
  readonly announced: readonly string[];
  /** Permissions that were missing, and what to do about it. */
  readonly missing: readonly string[];
  /** Why it ended before its time. */
  readonly problem: string | undefined;
}

export interface StepResult {
  /** Runs and calls until then. */
  readonly runs: number;
  readonly calls: number;
  /** Undefined where nobody looked. */
  readonly snapshot: ClusterSnapshot | undefined;
  /** What was still wrong, by key, and which permissions were missing until then. */
  readonly failing: readonly string[];
  /** What was done though nothing had happened. */
  readonly idle: readonly CallRecord[];
}
