import { type Condition, type Milliseconds, queueOf, functionLabel } from "@drover/controller";
import { absenceCondition } from "@drover/runtime";
import { bridgeRoles } from "./roles/bridge-roles.ts";
import { changePods } from "./pods/change-pods.ts";
import { recordFirstDelivery, removeOldDelivery } from "./delivery.ts";
import type { FunctionContext, FunctionObject } from "./objects/function-object.ts";
import { functionObjects } from "./objects/function-objects.ts";
import type { FunctionLoad } from "./redis/function-queues.ts";
import { nextRollout } from "./pods/next-rollout.ts";
import { gatewayRoles } from "./roles/gateway-roles.ts";
import { writeFunctionSecrets } from "./secrets/function-secrets.ts";
import { kedaObjects } from "./objects/keda-objects.ts";
import { ownedByInstallation } from "./objects/installation.ts";
import { applyObjects } from "./objects/apply-objects.ts";
import { type ObservedPod, observePods } from "./pods/observe-pods.ts";
import { permit } from "./permits/permit.ts";
import { fingerprintOf } from "./pods/pod-template.ts";
import { validateSpec } from "./validate-spec.ts";
import { planPodChanges } from "./pods/plan-pod-changes.ts";
import { nextScaling } from "./scaling/next-scaling.ts";
import { functionConditions } from "./function-conditions.ts";
import type { DeployRunContext } from "./run-context.ts";
import { removePods } from "./take-down.ts";

/** How often the counts in the status are renewed if nothing else causes a run, while there are Pods or keys to run. */
const refreshCountsEvery: Milliseconds = 10_000;

/** Time until objects that could not be written in a namespace that the spec names are tried again. */
const retryIncompleteAfter: Milliseconds = 30_000;

/**
 * One run, in this order: check the spec, review the author's permissions, write accounts and roles, write secrets,
 * change Pods. The status contains a function's first delivery and each new revision before anything is created for
 * them, so that nothing is forgotten if the deployer dies in between.
 */
export async function deploy(runContext: DeployRunContext) {
  const { context, functionRef, client } = runContext;
  const { spec, status, signal } = context;
  validateSpec(context);
  const objects = objectsOf(runContext);
  await permit(runContext, objects);
  const announced = recordFirstDelivery(context);
  if (announced !== undefined) return announced;
  const load = await applySpecPause(runContext);
  const pods = await observePods(client, functionRef, signal);
  // Without a container the objects stay until the last Pod has ended, because its runs may need them.
  const isKept = spec.container !== undefined || pods.length === 0;
  const incomplete = isKept && (await applyObjects(runContext, objects));
  const template = await writeFunctionSecrets(runContext, pods);
  const rollout = template
    ? nextRollout(context, fingerprintOf(template), pods)
    : await removePods(runContext, pods);
  const { revision = 0 } = rollout ?? {};
  const delivered = await removeOldDelivery(
    runContext,
    pods.every((pod) => template !== undefined && pod.revision === revision),
  );
  const isNew = template !== undefined && revision !== status.rollout?.revision;
  const scaled = { spec, status: { ...status, rollout } };
  const { scaling, left } = nextScaling(scaled, load, { pods: pods.length, now: runContext.now() });
  if (template !== undefined && !isNew) {
    const changes = planPodChanges(pods, { revision, wanted: scaling.wanted });
    await changePods(runContext, changes, { template, revision });
  }
  const again = isNew
    ? 1
    : Math.min(
        left,
        isBusy(pods, load) ? refreshCountsEvery : Infinity,
        incomplete ? retryIncompleteAfter : Infinity,
      );
  return {
    status: {
      ...bridgeFields(status),
      ...(delivered !== undefined && { delivered }),
      ...(rollout !== undefined && { rollout }),
      ...(template !== undefined && { scaling }),
      ...statusCounts(load, pods, revision),
      selector: `${functionLabel}=${functionRef.name}`,
      paused: spec.paused ?? false,
    },
    conditions: [
      ...functionConditions({ ...scaled, pods, revision, load, wanted: scaling.wanted }),
      ...absentConditions(runContext),
    ],
    ...(again < Infinity && { requeueAfter: `${Math.max(1, Math.ceil(again))}ms` }),
  };
}

const isBusy = (pods: readonly ObservedPod[], { due, running }: FunctionLoad): boolean =>
  pods.length + due + running > 0;

/** Conditions for the parts that the function needs and of which no replica runs. */
const absentConditions = ({ absentParts, context: { spec } }: DeployRunContext): readonly Condition[] =>
  absentParts().flatMap((one) =>
    one.part === "gateway" && spec.delivery !== "webhook" ? [] : [absenceCondition(one)],
  );

/** The bridge's fields of the status. The deployer carries them over, because it replaces the status. */
function bridgeFields({ problem, follows, campaign }: FunctionContext["status"]) {
  return {
    ...(problem !== undefined && { problem }),
    ...(follows !== undefined && { follows }),
    ...(campaign !== undefined && { campaign }),
  };
}

function statusCounts(load: FunctionLoad, pods: readonly ObservedPod[], revision: number) {
  const { due, oldestDue, running, parked, failing, paused: pausedKeys } = load;
  const staying = pods.filter(({ deleting }) => !deleting);
  return {
    due,
    running,
    parked,
    failing,
    pausedKeys,
    oldestDueSeconds: Math.floor(oldestDue / 1_000),
    replicas: staying.length,
    readyReplicas: staying.filter((pod) => pod.ready && pod.revision === revision).length,
  };
}

/** Pauses or resumes the function's queue by `spec.paused`. A pause that an operator made is left alone. */
async function applySpecPause({
  context: { spec, status },
  functionRef,
  queues,
}: DeployRunContext): Promise<FunctionLoad> {
  const load = await queues.load(functionRef, spec);
  const asked = spec.paused ?? false;
  if (asked === load.allPaused || (!asked && status.paused !== true)) return load;
  const queue = queues.open(queueOf(functionRef));
  await (asked
    ? queue.pause({ kind: "controller" }, "spec.paused of its ReconcileFunction")
    : queue.resume({ kind: "controller" }));
  return queues.load(functionRef, spec);
}

/**
 * All objects that the function needs, except Pods and Secrets. The permissions in its Roles are reviewed before any of
 * the objects is written.
 */
export function objectsOf({
  context,
  functionRef,
  environment,
  installation,
}: Pick<
  DeployRunContext,
  "context" | "functionRef" | "environment" | "installation"
>): readonly FunctionObject[] {
  const { spec, status } = context;
  const byKeda = spec.scaling?.by === "KEDA";
  // A cluster without KEDA does not serve its kinds, so they are read only if KEDA scales the function, or has done so.
  const wasByKeda = status.scaling?.by === "KEDA";
  const scaled = byKeda || wasByKeda ? kedaObjects(functionRef, spec, environment.keda, byKeda) : [];
  const called = spec.delivery === "webhook" ? gatewayRoles(functionRef, spec, environment.gateway) : [];
  const objects = [
    ...bridgeRoles(functionRef, spec, environment.bridge),
    ...functionObjects(functionRef, spec, environment),
    ...scaled,
    ...called,
  ];
  return ownedByInstallation(objects, functionRef, installation);
}
