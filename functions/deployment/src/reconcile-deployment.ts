import type { ReconcileResult } from "@drover/controller";
import { builtin } from "@drover/kube";
import type { Owner, WorkloadStep } from "@drover/workloads";
import { carryOut } from "./carry-out.ts";
import { decide, nextLook } from "./decide.ts";
import { type Deployment, type DeploymentObject, deploymentSchema } from "./deployment.ts";
import { draftOf, isSeen } from "./draft.ts";
import { findSets, oldPodsMayRun, releaseStrayed } from "./find-sets.ts";

/** A step and its Deployment. */
export interface DeploymentStep extends WorkloadStep<typeof Deployment> {
  readonly deployment: DeploymentObject;
  readonly owner: Owner;
}

/** One run: reads the objects, decides, writes. */
export async function reconcileDeployment(
  step: WorkloadStep<typeof Deployment>,
): Promise<ReconcileResult<typeof Deployment>> {
  const deployment = deploymentSchema.parse(step.context.object);
  const { metadata, spec } = deployment;
  const owner: Owner = { ref: builtin.deployment, metadata, selector: spec.selector };
  const deploymentStep: DeploymentStep = { ...step, deployment, owner };
  const sets = await findSets(deploymentStep);
  const draft = draftOf(deployment, sets, step.now());
  decide(draft, await oldPodsMayRun(deploymentStep, draft));
  const isWokenAgain = await carryOut(deploymentStep, draft);
  // A set that its controller has not observed yet will wake the Deployment, and a later run looks for stray sets.
  if (!isWokenAgain && draft.sets.every(isSeen)) await releaseStrayed(deploymentStep);
  const wait = nextLook(draft);
  return wait === undefined ? {} : { requeueAfter: `${Math.ceil(wait)}ms` };
}
