import type { Announcement } from "@drover/controller";
import type { ReplicaSetObject } from "@drover/workloads";
import { type Annotations, desiredAnnotation, maxAnnotation } from "./annotations.ts";
import { boundsOf, type DeploymentObject, type DeploymentStatus } from "./deployment.ts";
import { isSameTemplate } from "./template.ts";

/** A set as it should be after a run. `set.status` is never changed. */
export interface DraftSet {
  readonly set: ReplicaSetObject;
  /** True if it is to be created. */
  readonly isNew: boolean;
  /** True if its template is the Deployment's. */
  readonly isCurrent: boolean;
  replicas: number;
  minReadySeconds: number;
  annotations: Annotations;
  isToBeDeleted: boolean;
}

/**
 * A Deployment and its sets as they should be after a run. Decisions read and change only this. Its Events are emitted
 * after the sets, or the template, have been written.
 */
export interface Draft {
  readonly deployment: DeploymentObject;
  /** Oldest first. */
  readonly sets: DraftSet[];
  readonly now: Date;
  annotations: Annotations;
  status: DeploymentStatus;
  /** The template of an earlier revision, if the Deployment is to get it. */
  template: DeploymentObject["spec"]["template"] | undefined;
  readonly announcements: Announcement[];
}

/** @param sets the Deployment's own. */
export function draftOf(deployment: DeploymentObject, sets: readonly ReplicaSetObject[], now: Date): Draft {
  return {
    deployment,
    now,
    template: undefined,
    announcements: [],
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
  isToBeDeleted: false,
  replicas: set.spec.replicas,
  minReadySeconds: set.spec.minReadySeconds,
  annotations: set.metadata.annotations ?? {},
});

export const olderFirst = (a: ReplicaSetObject, b: ReplicaSetObject): number =>
  ordered(a.metadata.creationTimestamp ?? "", b.metadata.creationTimestamp ?? "") ||
  ordered(a.metadata.name, b.metadata.name);
const ordered = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** True if the set's controller has observed its present spec. */
export const isObserved = ({ set: { metadata, status } }: DraftSet): boolean =>
  (metadata.generation ?? 0) <= status.observedGeneration;

/** Sets with a size above 0. */
export const activeOf = (sets: readonly DraftSet[]): DraftSet[] =>
  sets.filter(({ replicas }) => replicas > 0);

export const totalOf = (sets: readonly DraftSet[]): number =>
  sets.reduce((sum, { replicas }) => sum + replicas, 0);

/**
 * The number of replicas of a set that are available and will stay. The status of a set that is being scaled down may
 * still count more. If those were counted here, as many replicas would be removed again.
 */
export const availableIn = ({ set, replicas }: DraftSet): number =>
  Math.min(set.status.availableReplicas, replicas);

/** Records on a set the size of the Deployment for which the set's own size was chosen. */
export function recordSizes({ deployment }: Draft, one: DraftSet): void {
  const { replicas } = deployment.spec;
  const { maxSurge } = boundsOf(deployment);
  one.annotations = {
    ...one.annotations,
    [desiredAnnotation]: String(replicas),
    [maxAnnotation]: String(replicas + maxSurge),
  };
}

/** Changes the size of a set. Returns true if it had another size. */
export function resize(draft: Draft, one: DraftSet, replicas: number): boolean {
  if (one.replicas === replicas) return false;
  const from = one.replicas;
  one.replicas = replicas;
  recordSizes(draft, one);
  announceScaling(draft, one, from);
  return true;
}

export function announceScaling({ announcements }: Draft, { set, replicas }: DraftSet, from: number): void {
  const way = from < replicas ? "up" : "down";
  announcements.push({
    type: "Normal",
    reason: "ScalingReplicaSet",
    action: "Scale",
    note: `Scaled ${way} replica set ${set.metadata.name} from ${from} to ${replicas}`,
  });
}
