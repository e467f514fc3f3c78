// What users do, as data, so that the very same can be done twice, and printed.
import { objectAt, parseJson, type JsonObject } from "../../../packages/sandbox/src/json.ts";

export type Workload = "Deployment" | "ReplicaSet" | "CronJob" | "Job" | "Service" | "DaemonSet";

/** What becomes of what an object owns. */
export type Policy = "Background" | "Foreground" | "Orphan";

export type Action =
  | { readonly do: "create"; readonly object: JsonObject }
  /** Several at once; a `status` is written as soon as the object is there. */
  | { readonly do: "createAll"; readonly objects: readonly JsonObject[] }
  /** The same to pods of these names. */
  | { readonly do: "namedPods"; readonly names: readonly string[]; readonly change: Change }
  /** To one of the EndpointSlices of a Service; which, goes by what it contains. */
  | { readonly do: "slice"; readonly of: string; readonly change: Change }
  /** A merge patch. */
  | { readonly do: "patch"; readonly kind: Workload; readonly name: string; readonly patch: JsonObject }
  /** Two changes of a Deployment's spec, the second as soon as there is a ReplicaSet for the first. */
  | { readonly do: "rollOver"; readonly name: string; readonly first: JsonObject; readonly then: JsonObject }
  /** `kubectl ARGS`, in the namespace. */
  | { readonly do: "kubectl"; readonly args: readonly string[] }
  /** The same to some pods of an object; which, goes by what they look like. */
  | {
      readonly do: "pods";
      readonly of: string;
      readonly count: number;
      readonly change: Change;
      /** Only pods that have not ended and are not being deleted. */
      readonly active?: true;
    }
  /** To the newest or oldest ReplicaSet of a Deployment. */
  | {
      readonly do: "replicaSet";
      readonly of: string;
      readonly which: "newest" | "oldest";
      readonly change: Change;
    }
  /** To the newest or oldest Job of a CronJob. */
  | {
      readonly do: "job";
      readonly of: string;
      readonly which: "newest" | "oldest";
      readonly change: Change;
    }
  /** Nothing, at the begin of the next minute. */
  | { readonly do: "minute" }
  | {
      readonly do: "delete";
      readonly kind: Workload;
      readonly name: string;
      readonly policy: Policy;
    }
  /** A node of the sequence: comes, changes, or goes with its pods. Then each DaemonSet is touched. */
  | { readonly do: "node"; readonly name: string; readonly change: "add" | Change }
  /** To the newest or oldest ControllerRevision. */
  | { readonly do: "revision"; readonly which: "newest" | "oldest"; readonly change: Change }
  /** All objects of the family's kinds, at once. */
  | { readonly do: "clear" }
  /** At most so many pods in the namespace; undefined lifts it. */
  | { readonly do: "quota"; readonly pods: number | undefined };

/**
 * A merge patch of the object or of its status, its end, or a finalizer that keeps it from its end and comes or goes beside
 * the others.
 */
export type Change =
  "delete" | "hold" | "free" | { readonly patch: JsonObject } | { readonly status: JsonObject };

export interface Sequence {
  readonly seed: number;
  readonly actions: readonly Action[];
}

/** Stands for the uid of the Job of that name, in an object to be created. */
export const uidOfJob = (name: string): string => `<uid of ${name}>`;

/** Stands for the namespace of the sequence. */
export const itsNamespace = "<namespace>";

/** An object to be created, with the uids and the namespace. */
export const filledIn = (
  object: JsonObject,
  { uidOf, namespace }: { readonly uidOf: (job: string) => string; readonly namespace: string },
): JsonObject =>
  objectAt(
    parseJson(
      JSON.stringify(object)
        .replace(/<uid of ([a-z-]+)>/g, (_, name: string) => uidOf(name))
        .replaceAll(itsNamespace, namespace),
    ),
  );

/** An action for people. */
export const shownAction = (action: Action): string => {
  const { do: verb, ...rest } = action;
  return `${verb} ${JSON.stringify(rest)}`;
};
