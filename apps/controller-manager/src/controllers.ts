import type { DeployableFunction } from "@drover/controller";
import { cronJobFunction } from "@drover/cronjob";
import { daemonSetFunction } from "@drover/daemonset";
import { deploymentFunction } from "@drover/deployment";
import { endpointSliceFunction } from "@drover/endpointslice";
import { jobFunction } from "@drover/job";
import { replicaSetFunction } from "@drover/replicaset";

/** The functions that the process can run, by the names of their controllers. To add one, add it here. */
export const controllers: readonly DeployableFunction[] = [
  cronJobFunction,
  daemonSetFunction,
  deploymentFunction,
  endpointSliceFunction,
  jobFunction,
  replicaSetFunction,
];
