import type { Owner, ReplicaSet, ReplicaSetObject, WorkloadRunContext } from "@drover/workloads";

/** A step and its set. */
export interface ReplicaSetRunContext extends WorkloadRunContext<typeof ReplicaSet> {
  readonly set: ReplicaSetObject;
  readonly owner: Owner;
}
