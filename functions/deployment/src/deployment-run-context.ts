import type { Owner, WorkloadRunContext } from "@drover/workloads";
import type { Deployment, DeploymentObject } from "./deployment.ts";

/** A step and its Deployment. */
export interface DeploymentRunContext extends WorkloadRunContext<typeof Deployment> {
  readonly deployment: DeploymentObject;
  readonly owner: Owner;
}
