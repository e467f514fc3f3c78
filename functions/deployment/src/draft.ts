import type { Announcement } from "@drover/controller";
import type { ReplicaSetObject } from "@drover/workloads";
import { type Annotations, desiredAnnotation, maxAnnotation } from "./annotations.ts";
import { boundsOf, type DeploymentObject, type DeploymentStatus } from "./deployment.ts";
import { isSameTemplate } from "./template.ts";

/** A set as it is to be after a run; `set.status` stays what it is. */
export interface DraftSet {
  readonly set: ReplicaSetObject;
  /** It is to be made. */
  readonly isNew: boolean;
  /** Its template is the Deployment's. */
  readonly isCurrent: boolean;
  replicas: number;
  minReadySeconds: number;
  annotations: Annotations;
  isGone: boolean;
}

/**
 * A Deployment and its sets as they are to be after a run. Decisions read and change it, and nothing else; what is said
 * of it is said once it is so.
 */
export interface Draft {
  readonly deployment: DeploymentObject;
  /** Oldest first. */
  readonly sets: DraftSet[];
  readonly now: Date;
  annotations: Annotations;
  status: DeploymentStatus;
  /** The template, when it is to be that of an earlier revision. */
  template: DeploymentObject["spec"]["template"] | undefined;
  readonly said: Announcement[];
}

/** @param sets the Deployment's own. */
export function draftOf(deployment: DeploymentObject, sets: readonly ReplicaSetObject[], now: Date): Draft {
  return {
    deployment,
    now,
    template: undefined,
    said: [],
    annotations: deployment.metadata.annotations ?? {},
    status: deployment.status,
    sets: [...sets].sort(olderFirst).map((set) => ({
      ...draftSet(set),
      isCurrent: isSameTemplate(set.spec.template, deployment.spec.template),
    })),
  };
}

export const draftSet = (set: ReplicaSetObject) => ({
  set,
  isNew: false,
  isGone: false,
  replicas: set.spec.replicas,
  minReadySeconds: set.spec.minReadySeconds,
  annotations: set.metadata.annotations ?? {},
});

export const olderFirst = (a: ReplicaSetObject, b: ReplicaSetObject): number =>
  ordered(a.metadata.creationTimestamp ?? "", b.metadata.creationTimestamp ?? "") ||
  ordered(a.metadata.name, b.metadata.name);
const ordered = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Its controller has seen its spec. */
export const isSeen = ({ set: { metadata, status } }: DraftSet): boolean =>
  (metadata.generation ?? 0) <= status.observedGeneration;

/** Sets that have replicas, or ought to. */
export const activeOf = (sets: readonly DraftSet[]): DraftSet[] =>
  sets.filter(({ replicas }) => replicas > 0);

export const totalOf = (sets: readonly DraftSet[]): number =>
  sets.reduce((sum, { replicas }) => sum + replicas, 0);

/**
 * How many replicas of a set are available and will stay: of a set that is being scaled down its status may still tell
 * of more, and whoever counted those would take as many again.
 */
export const availableIn = ({ set, replicas }: DraftSet): number =>
  Math.min(set.status.availableReplicas, replicas);

/** Notes on a set which size of the Deployment its own was made for. */
export function noteSizes({ deployment }: Draft, one: DraftSet): void {
  const { replicas } = deployment.spec;
  const { maxSurge } = boundsOf(deployment);
  one.annotations = {
    ...one.annotations,
    [desiredAnnotation]: String(replicas),
    [maxAnnotation]: String(replicas + maxSurge),
  };
}

/** Gives a set another size; true when it had another one. */
export function resize(draft: Draft, one: DraftSet, replicas: number): boolean {
  if (one.replicas === replicas) return false;
  const from = one.replicas;
  one.replicas = replicas;
  noteSizes(draft, one);
  sayScaled(draft, one, from);
  return true;
}

export function sayScaled({ said }: Draft, { set, replicas }: DraftSet, from: number): void {
  const way = from < replicas ? "up" : "down";
  said.push({
    type: "Normal",
    reason: "ScalingReplicaSet",
    action: "Scale",
    note: `Scaled ${way} replica set ${set.metadata.name} from ${from} to ${replicas}`,
  });
}
