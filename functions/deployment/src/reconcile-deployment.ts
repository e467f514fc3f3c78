import type { ReconcileResult } from "@drover/controller";
import { builtin } from "@drover/kube";
import type { Owner, WorkloadStep } from "@drover/workloads";
import { carryOut } from "./carry-out.ts";
import { decide, nextLook } from "./decide.ts";
import { type Deployment, type DeploymentObject, deploymentSchema } from "./deployment.ts";
import { draftOf, type DraftSet } from "./draft.ts";
import { findSets, oldPodsMayRun, releaseStrayed } from "./find-sets.ts";

/** A step, and the Deployment that it is about. */
export interface DeploymentStep extends WorkloadStep<typeof Deployment> {
  readonly deployment: DeploymentObject;
  readonly owner: Owner;
}

/** Its controller has yet to look at it, and that will wake the Deployment again. */
const isUnseen = ({ set: { metadata, status } }: DraftSet): boolean =>
  status.observedGeneration < (metadata.generation ?? 0);

/** One run: read what there is, decide, write. */
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
  if (!(await carryOut(deploymentStep, draft)) && !draft.sets.some(isUnseen))
    await releaseStrayed(deploymentStep);
  const wait = nextLook(draft);
  return wait === undefined ? {} : { requeueAfter: `${Math.ceil(wait)}ms` };
}
