import type { ReconcileResult } from "@drover/controller";
import { builtin } from "@drover/kube";
import { type Owner, requeueIn, type WorkloadRunContext } from "@drover/workloads";
import { applyDraft } from "./apply-draft.ts";
import { decide, requeueDelay } from "./decide.ts";
import { type Deployment, deploymentSchema } from "./deployment.ts";
import { draftOf, isObserved } from "./draft.ts";
import { findSets, oldPodsMayRun, releaseStraySets } from "./find-sets.ts";
import type { DeploymentRunContext } from "./deployment-run-context.ts";

/** One run: reads the objects, decides, writes. */
export async function reconcileDeployment(
  runContext: WorkloadRunContext<typeof Deployment>,
): Promise<ReconcileResult<typeof Deployment>> {
  const deployment = deploymentSchema.parse(runContext.context.object);
  const { metadata, spec } = deployment;
  const owner: Owner = { ref: builtin.deployment, metadata, selector: spec.selector };
  const deploymentContext: DeploymentRunContext = { ...runContext, deployment, owner };
  const sets = await findSets(deploymentContext);
  const draft = draftOf(deployment, sets, runContext.now());
  decide(draft, await oldPodsMayRun(deploymentContext, draft));
  const isWokenAgain = await applyDraft(deploymentContext, draft);
  // A set that its controller has not observed yet will wake the Deployment, and a later run looks for stray sets.
  if (!isWokenAgain && draft.sets.every(isObserved)) await releaseStraySets(deploymentContext);
  const wait = requeueDelay(draft);
  return wait === undefined ? {} : requeueIn(wait, 1);
}
