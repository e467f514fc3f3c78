// What users do, as data, so that the very same can be done twice, and printed.
import type { JsonObject } from "../../../packages/sandbox/src/json.ts";

export type Workload = "Deployment" | "ReplicaSet";

/** What becomes of what an object owns. */
export type Policy = "Background" | "Foreground" | "Orphan";

export type Action =
  | { readonly do: "create"; readonly object: JsonObject }
  /** A merge patch. */
  | { readonly do: "patch"; readonly kind: Workload; readonly name: string; readonly patch: JsonObject }
  /** Two changes of a Deployment's spec, the second as soon as there is a ReplicaSet for the first. */
  | { readonly do: "rollOver"; readonly name: string; readonly first: JsonObject; readonly then: JsonObject }
  /** `kubectl ARGS`, in the namespace. */
  | { readonly do: "kubectl"; readonly args: readonly string[] }
  /** The same to some pods of a Deployment or ReplicaSet; which, goes by what they look like. */
  | { readonly do: "pods"; readonly of: string; readonly count: number; readonly change: Change }
  /** To the newest or oldest ReplicaSet of a Deployment. */
  | {
      readonly do: "replicaSet";
      readonly of: string;
      readonly which: "newest" | "oldest";
      readonly change: Change;
    }
  | {
      readonly do: "delete";
      readonly kind: Workload;
      readonly name: string;
      readonly policy: Policy;
    }
  /** All Deployments, ReplicaSets and pods, at once. */
  | { readonly do: "clear" }
  /** At most so many pods in the namespace; undefined lifts it. */
  | { readonly do: "quota"; readonly pods: number | undefined };

/** A merge patch, or its end. */
export type Change = "delete" | { readonly patch: JsonObject };

export interface Sequence {
  readonly seed: number;
  readonly actions: readonly Action[];
}

/** An action for people. */
export const shownAction = (action: Action): string => {
  const { do: verb, ...rest } = action;
  return `${verb} ${JSON.stringify(rest)}`;
};
