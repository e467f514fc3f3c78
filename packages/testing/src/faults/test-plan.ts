/**
 * One thing that goes wrong, at one place of a scenario. Writes, runs and steps are counted from 1 over the whole life, as
 * the fault-free run had them: up to the fault, both are the same.
 */
export type TestPlan =
  /** The process is killed before a write reaches the server, or between its commit and its answer. */
  | { readonly kind: "crash"; readonly when: "before" | "after"; readonly write: PlannedWrite }
  /** The write is carried out, and the connection breaks instead of an answer. */
  | { readonly kind: "lost answer"; readonly write: PlannedWrite }
  /** The server says no, once: a conflict where something is changed, else an error of its own. */
  | { readonly kind: "refused"; readonly status: 409 | 500 | 503; readonly write: PlannedWrite }
  /** Somebody else changes the object after the function has read it, and before its write arrives. */
  | { readonly kind: "interfered"; readonly write: PlannedWrite }
  /**
   * What a run reads that a cache may answer is answered as of before an earlier run, or before the last step: it does not
   * see its own writes, or what people did.
   */
  | {
      readonly kind: "stale view";
      readonly run: number;
      readonly before: FreezePoint;
      readonly write: PlannedWrite;
    }
  /** The process is killed between the commit of a write and its answer, and stays away until the next step has come. */
  | { readonly kind: "down"; readonly step: number; readonly write: PlannedWrite }
  /** A step follows upon another before the function has seen what came of the first. */
  | { readonly kind: "unobserved"; readonly step: number }
  /** What a step deletes is made anew before the function has seen that it was gone. */
  | { readonly kind: "made anew"; readonly step: number }
  /** After a step every object is looked at again, though nothing happened. */
  | { readonly kind: "looked at again"; readonly step: number }
  /** After a step somebody deletes what the function made. */
  | { readonly kind: "taken away"; readonly step: number; readonly made: CreatedObject }
  /** Somebody else's object is there, of the name, or with the labels, of one that the function makes. */
  | { readonly kind: "stranger"; readonly by: "name" | "labels"; readonly made: CreatedObject };

/** When a view froze: just before a run, or before a step. */
export type FreezePoint = { readonly run: number } | { readonly step: number };

/** A request that changes something, as the fault-free run made it. */
export interface PlannedWrite {
  readonly number: number;
  /** `create configmaps`: what the write with this number must be, or else it is not the one that was meant. */
  readonly what: string;
  /** For people: with the object's name. */
  readonly words: string;
}

/** An object that the function made. */
export interface CreatedObject {
  /** `configmaps`, `deployments.apps` */
  readonly resource: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** For people, and to choose one by. */
export function describePlan(plan: TestPlan): string {
  switch (plan.kind) {
    case "crash":
      return `crash ${plan.when} ${describeWrite(plan.write)}`;
    case "lost answer":
      return `lost answer of ${describeWrite(plan.write)}`;
    case "refused":
      return `${plan.status} for ${describeWrite(plan.write)}`;
    case "interfered":
      return `somebody else changes it just before ${describeWrite(plan.write)}`;
    case "stale view": {
      const since = "run" in plan.before ? `run ${plan.before.run}` : `step ${plan.before.step}`;
      return `stale view, of before ${since}, in run ${plan.run}, which did ${describeWrite(plan.write)}`;
    }
    case "down":
      return `crash after ${describeWrite(plan.write)}, and down until step ${plan.step + 1} has come`;
    case "unobserved":
      return `step ${plan.step + 1} before anybody saw step ${plan.step}`;
    case "made anew":
      return `made anew before anybody saw step ${plan.step}`;
    case "looked at again":
      return `looked at again after step ${plan.step}`;
    case "taken away":
      return `${describeObject(plan.made)} taken away after step ${plan.step}`;
    case "stranger": {
      const like = plan.by === "name" ? "of the name" : "with the labels";
      return `somebody else's object ${like} of ${describeObject(plan.made)}`;
    }
  }
}

const describeWrite = ({ number, words }: PlannedWrite): string => `write ${number} (${words})`;

export const describeObject = ({
  resource,
  namespace,
  name,
}: Omit<CreatedObject, "apiVersion" | "kind">): string =>
  `${resource} ${[namespace, name].filter((part) => part !== "").join("/")}`;
