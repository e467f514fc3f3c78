import { type Condition, type Milliseconds, queueOf } from "@drover/controller";
import { absentAsCondition } from "@drover/runtime";
import { bridgeRoles } from "./bridge-roles.ts";
import { changePods } from "./change-pods.ts";
import { announcedDelivery, leaveFormerDelivery } from "./delivered.ts";
import { type FunctionContext, type FunctionObject, functionObjects } from "./function-objects.ts";
import type { FunctionLoad } from "./function-queues.ts";
import { rolloutOf } from "./function-rollout.ts";
import { gatewayRoles } from "./gateway-roles.ts";
import { templateWithSecrets } from "./function-secrets.ts";
import { kedaObjects } from "./keda-objects.ts";
import { ownedByInstallation } from "./installation.ts";
import { keepObjects } from "./keep-objects.ts";
import { functionLabel } from "./names.ts";
import { type ObservedPod, observePods } from "./observe-pods.ts";
import { permit } from "./permits/permit.ts";
import { fingerprintOf } from "./pod-template.ts";
import { refuseUnclear } from "./refuse-unclear.ts";
import { podChanges } from "./roll-out.ts";
import { scaleNow } from "./scale-now.ts";
import { statedConditions } from "./stated-conditions.ts";
import type { Step } from "./step.ts";
import { withdraw } from "./take-down.ts";

/** How often the counts in the status are renewed if nothing else causes a run, while there are Pods or keys to run. */
const figuresEvery: Milliseconds = 10_000;

/** Time until objects that could not be written in a namespace that the spec names are tried again. */
const incompleteAgain: Milliseconds = 30_000;

/**
 * One run, in this order: check the spec, review the author's permissions, write accounts and roles, write secrets,
 * change Pods. The status contains a function's first delivery and each new revision before anything is created for
 * them, so that nothing is forgotten if the deployer dies in between.
 */
export async function deploy(step: Step) {
  const { context, home, client } = step;
  const { spec, status, signal } = context;
  refuseUnclear(context);
  const objects = objectsOf(step);
  await permit(step, objects);
  const announced = announcedDelivery(context);
  if (announced !== undefined) return announced;
  const load = await pauseAsAsked(step);
  const pods = await observePods(client, home, signal);
  // Without a container the objects stay until the last Pod has ended, because its runs may need them.
  const isKept = spec.container !== undefined || pods.length === 0;
  const incomplete = isKept && (await keepObjects(step, objects));
  const template = await templateWithSecrets(step, pods);
  const rollout = template ? rolloutOf(context, fingerprintOf(template), pods) : await withdraw(step, pods);
  const { revision = 0 } = rollout ?? {};
  const delivered = await leaveFormerDelivery(
    step,
    pods.every((pod) => template !== undefined && pod.revision === revision),
  );
  const isNew = template !== undefined && revision !== status.rollout?.revision;
  const scaled = { spec, status: { ...status, rollout } };
  const { scaling, left } = scaleNow(scaled, load, { pods: pods.length, now: step.now() });
  if (template !== undefined && !isNew) {
    const changes = podChanges(pods, { revision, wanted: scaling.wanted });
    await changePods(step, changes, { template, revision });
  }
  const again = isNew
    ? 1
    : Math.min(left, isBusy(pods, load) ? figuresEvery : Infinity, incomplete ? incompleteAgain : Infinity);
  return {
    status: {
      ...bridgesPart(status),
      ...(delivered !== undefined && { delivered }),
      ...(rollout !== undefined && { rollout }),
      ...(template !== undefined && { scaling }),
      ...figuresOf(load, pods, revision),
      selector: `${functionLabel}=${home.name}`,
      paused: spec.paused ?? false,
    },
    conditions: [
      ...statedConditions({ ...scaled, pods, revision, load, wanted: scaling.wanted }),
      ...absentFor(step),
    ],
    ...(again < Infinity && { requeueAfter: `${Math.max(1, Math.ceil(again))}ms` }),
  };
}

const isBusy = (pods: readonly ObservedPod[], { due, running }: FunctionLoad): boolean =>
  pods.length + due + running > 0;

/** Conditions for the parts that the function needs and of which no replica runs. */
const absentFor = ({ absent, context: { spec } }: Step): readonly Condition[] =>
  absent().flatMap((one) =>
    one.part === "gateway" && spec.delivery !== "webhook" ? [] : [absentAsCondition(one)],
  );

/** The bridge's fields of the status. The deployer carries them over, because it replaces the status. */
function bridgesPart({ problem, follows, campaign }: FunctionContext["status"]) {
  return {
    ...(problem !== undefined && { problem }),
    ...(follows !== undefined && { follows }),
    ...(campaign !== undefined && { campaign }),
  };
}

function figuresOf(load: FunctionLoad, pods: readonly ObservedPod[], revision: number) {
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
async function pauseAsAsked({ context: { spec, status }, home, queues }: Step): Promise<FunctionLoad> {
  const load = await queues.load(home, spec);
  const asked = spec.paused ?? false;
  if (asked === load.allPaused || (!asked && status.paused !== true)) return load;
  const queue = queues.of(queueOf(home));
  await (asked
    ? queue.pause({ kind: "controller" }, "spec.paused of its ReconcileFunction")
    : queue.resume({ kind: "controller" }));
  return queues.load(home, spec);
}

/**
 * All objects that the function needs, except Pods and Secrets. The permissions in its Roles are reviewed before any of
 * the objects is written.
 */
export function objectsOf({
  context,
  home,
  surroundings,
  installation,
}: Pick<Step, "context" | "home" | "surroundings" | "installation">): readonly FunctionObject[] {
  const { spec, status } = context;
  const byKeda = spec.scaling?.by === "KEDA";
  // A cluster without KEDA does not serve its kinds, so they are read only if KEDA scales the function, or has done so.
  const wasByKeda = status.scaling?.by === "KEDA";
  const scaled = byKeda || wasByKeda ? kedaObjects(home, spec, surroundings.keda, byKeda) : [];
  const called = spec.delivery === "webhook" ? gatewayRoles(home, spec, surroundings.gateway) : [];
  const objects = [
    ...bridgeRoles(home, spec, surroundings.bridge),
    ...functionObjects(home, spec, surroundings),
    ...scaled,
    ...called,
  ];
  return ownedByInstallation(objects, home, installation);
}
