import type { KindName } from "../kubectl/served-kinds.ts";
import type { NamedObject } from "./cluster-state.ts";

/**
 * One fault, at one place of a scenario. Writes, runs and steps are counted from 1, as in the run without faults: up to the
 * fault, both are the same.
 */
export type TestPlan =
  /** The process is killed before a write reaches the server, or between its commit and its answer. */
  | { readonly kind: "crash"; readonly when: "before" | "after"; readonly write: PlannedWrite }
  /** The write is carried out, and the connection breaks instead of an answer. */
  | { readonly kind: "lost answer"; readonly write: PlannedWrite }
  /** A call of the function is carried out, no answer comes, and the run is stopped by its timeout. */
  | { readonly kind: "timed out"; readonly write: PlannedWrite }
  /** A call of the function is sent twice, and the second answer counts. */
  | { readonly kind: "repeated"; readonly write: PlannedWrite }
  /** The server refuses the write once: with a conflict for a change, with a server error for all others. */
  | { readonly kind: "refused"; readonly status: 409 | 500 | 503; readonly write: PlannedWrite }
  /** Another client changes the object after the function has read it, and before its write arrives. */
  | { readonly kind: "interfered"; readonly write: PlannedWrite }
  /**
   * Reads of a run that a cache may answer return the state before an earlier run, or before the last step: the run does not
   * see its own writes, or the last change of a user.
   */
  | {
      readonly kind: "stale view";
      readonly run: number;
      readonly before: FreezePoint;
      readonly write: PlannedWrite;
    }
  /** The process is killed between the commit of a write and its answer, and is started again after the next step. */
  | { readonly kind: "down"; readonly step: number; readonly write: PlannedWrite }
  /** Two steps with no run between them. */
  | { readonly kind: "unobserved"; readonly step: number }
  /** The object that a step deletes is created again before a run has seen the deletion. */
  | { readonly kind: "recreated"; readonly step: number }
  /** After a step every object is reconciled again, though nothing has changed. */
  | { readonly kind: "reconciled again"; readonly step: number }
  /** After a step a user deletes an object that the function created. */
  | { readonly kind: "deleted"; readonly step: number; readonly made: CreatedObject }
  /** An object of another controller exists, with the name or the labels of one that the function creates. */
  | { readonly kind: "foreign object"; readonly by: "name" | "labels"; readonly made: CreatedObject };

/** The moment at which a view freezes: before a run, or before a step. */
export type FreezePoint = { readonly run: number } | { readonly step: number };

/** A request that changes something, as in the run without faults. */
export interface PlannedWrite {
  readonly number: number;
  /** `create configmaps`. If the write with this number is another one, the fault does not fire. */
  readonly what: string;
  /** With the object's name, for messages. */
  readonly words: string;
}

/** An object that the function created. */
export interface CreatedObject extends NamedObject, KindName {}

/** The plan in words: for messages, and for `--plan` and `except`, which select plans by a part of it. */
export function describePlan(plan: TestPlan): string {
  switch (plan.kind) {
    case "crash":
      return `crash ${plan.when} ${describeWrite(plan.write)}`;
    case "lost answer":
      return `lost answer of ${describeWrite(plan.write)}`;
    case "timed out":
      return `no answer of ${describeWrite(plan.write)} until the timeout`;
    case "repeated":
      return `${describeWrite(plan.write)} sent twice`;
    case "refused":
      return `${plan.status} for ${describeWrite(plan.write)}`;
    case "interfered":
      return `another client changes the object just before ${describeWrite(plan.write)}`;
    case "stale view": {
      const since = "run" in plan.before ? `run ${plan.before.run}` : `step ${plan.before.step}`;
      return `stale view from before ${since} in run ${plan.run}, which sends ${describeWrite(plan.write)}`;
    }
    case "down":
      return `crash after ${describeWrite(plan.write)}, and down until step ${plan.step + 1} is done`;
    case "unobserved":
      return `step ${plan.step + 1} with no run after step ${plan.step}`;
    case "recreated":
      return `recreated with no run after step ${plan.step}`;
    case "reconciled again":
      return `every object reconciled again after step ${plan.step}`;
    case "deleted":
      return `${describeObject(plan.made)} deleted after step ${plan.step}`;
    case "foreign object": {
      const like = plan.by === "name" ? "the name" : "the labels";
      return `an object of another controller with ${like} of ${describeObject(plan.made)}`;
    }
  }
}

const describeWrite = ({ number, words }: PlannedWrite): string => `write ${number} (${words})`;

export const describeObject = ({ resource, namespace, name }: NamedObject): string =>
  `${resource} ${[namespace, name].filter((part) => part !== "").join("/")}`;
