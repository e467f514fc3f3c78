import type { ReconcileContext, ReconcileResult } from "@drover/controller";
import { builtin, type KubeClient } from "@drover/kube";
import type { Owner } from "@drover/workloads";
import { carryOut } from "./carry-out.ts";
import { decide, nextLook } from "./decide.ts";
import { type Deployment, type DeploymentObject, deploymentSchema } from "./deployment.ts";
import { draftOf } from "./draft.ts";
import { findSets, oldPodsMayRun, releaseStrayed } from "./find-sets.ts";

/** What all steps of a run share. */
export interface Step {
  /** It writes only while the run holds its key. */
  readonly client: KubeClient;
  readonly now: () => Date;
  readonly context: ReconcileContext<typeof Deployment>;
}

/** A step, and the Deployment that it is about. */
export interface DeploymentStep extends Step {
  readonly deployment: DeploymentObject;
  readonly owner: Owner;
}

/** One run: read what there is, decide, write. */
export async function reconcileDeployment(step: Step): Promise<ReconcileResult<typeof Deployment>> {
  const deployment = deploymentSchema.parse(step.context.object);
  const { metadata, spec } = deployment;
  const owner: Owner = { ref: builtin.deployment, metadata, selector: spec.selector };
  const deploymentStep: DeploymentStep = { ...step, deployment, owner };
  const sets = await findSets(deploymentStep);
  const draft = draftOf(deployment, sets, step.now());
  decide(draft, await oldPodsMayRun(deploymentStep, sets));
  if (!(await carryOut(deploymentStep, draft))) await releaseStrayed(deploymentStep);
  const wait = nextLook(draft);
  return wait === undefined ? {} : { requeueAfter: `${Math.ceil(wait)}ms` };
}
