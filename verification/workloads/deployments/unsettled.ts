// The changes to Deployments, ReplicaSets and their pods that must still come, computed for any controller.
import { field, textAt } from "../../../packages/sandbox/src/json.ts";
import type { Json, JsonObject } from "../../../packages/sandbox/src/json.ts";
import {
  conditionOf,
  counted,
  isActive,
  isBehind,
  isHeld,
  isLeaving,
  isOwnedBy,
  isReady,
  nameOf,
  numberAt,
  selects,
  templateOf,
  wanted,
} from "../sequences/kinds.ts";
import type { World } from "../observe.ts";
import {
  awaitedSeconds,
  fateOf,
  firstReason,
  misfiled,
  unownedBy,
  unsettledPod,
} from "../sequences/settle.ts";

interface Scene {
  readonly world: World;
  readonly deployments: readonly JsonObject[];
  readonly sets: readonly JsonObject[];
  readonly pods: readonly JsonObject[];
  /** A quota refuses pods. */
  readonly quota: boolean;
}

function unsettledSet(set: Json, { pods, quota, sets }: Scene): string | undefined {
  if (isLeaving(set))
    return pods.some((pod) => isHeld(pod) && isOwnedBy(pod, set)) ? undefined : "is on its way out";
  if (isBehind(set)) return "has a spec that no controller has observed";
  const rivals = sets.filter((other) => selects(other, field(set, "spec", "template") ?? null)).length;
  const filing = rivals === 1 ? misfiled(set, pods.filter(isActive)) : undefined;
  if (filing !== undefined) return filing;
  const theirs = pods.filter((pod) => isOwnedBy(pod, set) && isActive(pod));
  if (counted(set, "replicas") !== theirs.length) return "has other pods than in its status";
  if (counted(set, "readyReplicas") !== theirs.filter(isReady).length)
    return "has other ready pods than in its status";
  if (counted(set, "terminatingReplicas") > 0 && !pods.some((pod) => isOwnedBy(pod, set) && isLeaving(pod)))
    return "reports terminating pods that are gone";
  const ripening = numberAt(set, "spec", "minReadySeconds") ?? 0;
  if (ripening <= awaitedSeconds && counted(set, "readyReplicas") !== counted(set, "availableReplicas"))
    return "has pods that ripen";
  if (conditionOf(set, "ReplicaFailure")) return quota ? undefined : "may create its pods now";
  return counted(set, "replicas") === wanted(set) ? undefined : "has other pods than it wants";
}

const neverSeconds = 2_147_483_647;

/** What may keep a rollout from ever being complete. */
function isStuck(deployment: Json, theirs: readonly Json[], { pods }: Scene): boolean {
  const fates = [
    fateOf(field(deployment, "spec", "template") ?? null),
    ...pods.filter((pod) => theirs.some((set) => isOwnedBy(pod, set))).map(fateOf),
  ];
  return (
    field(deployment, "spec", "paused") === true ||
    theirs.some((set) => conditionOf(set, "ReplicaFailure") !== undefined) ||
    fates.some((fate) => fate === "pending" || fate === "unready") ||
    (numberAt(deployment, "spec", "minReadySeconds") ?? 0) > awaitedSeconds ||
    pods.some(isHeld)
  );
}

/** What must still come of a rollout that nothing is in the way of. */
function incomplete(deployment: Json, theirs: readonly Json[]): string | undefined {
  const all = wanted(deployment);
  const counts = ["replicas", "updatedReplicas", "availableReplicas"];
  if (counts.some((name) => counted(deployment, name) !== all)) return "is not rolled out yet";
  const deadline = numberAt(deployment, "spec", "progressDeadlineSeconds") ?? neverSeconds;
  const reason = textAt(conditionOf(deployment, "Progressing"), "reason");
  if (deadline !== neverSeconds && reason !== "NewReplicaSetAvailable")
    return "does not report that it is complete";
  const template = templateOf(deployment);
  const old = theirs.filter(
    (set) => templateOf(set) !== template && wanted(set) + counted(set, "replicas") === 0,
  );
  const limit = numberAt(deployment, "spec", "revisionHistoryLimit") ?? Infinity;
  return old.length > limit ? "has more history than it may have" : undefined;
}

/** A rollout close to its deadline. */
export function isProgressAwaited(deployment: Json): boolean {
  const progress = conditionOf(deployment, "Progressing");
  const deadline = numberAt(deployment, "spec", "progressDeadlineSeconds") ?? neverSeconds;
  const runs =
    textAt(progress, "status") === "True" && textAt(progress, "reason") !== "NewReplicaSetAvailable";
  return runs && deadline <= awaitedSeconds;
}

function unsettledDeployment(deployment: Json, scene: Scene): string | undefined {
  const { sets, pods } = scene;
  if (isLeaving(deployment)) return pods.some(isHeld) ? undefined : "is on its way out";
  if (isBehind(deployment)) return "has a spec that no controller has observed";
  const filing = misfiled(deployment, sets);
  if (filing !== undefined) return filing;
  const theirs = sets.filter((set) => isOwnedBy(set, deployment));
  const sum = (name: string): number => theirs.reduce((total, set) => total + counted(set, name), 0);
  for (const name of ["replicas", "readyReplicas", "availableReplicas"])
    if (counted(deployment, name) !== sum(name)) return `has other ${name} than in its status`;
  if (counted(deployment, "terminatingReplicas") > 0 && sum("terminatingReplicas") === 0)
    return "reports terminating pods that are gone";
  const stuck = isStuck(deployment, theirs, scene);
  const left = stuck ? undefined : incomplete(deployment, theirs);
  if (left !== undefined) return left;
  return isProgressAwaited(deployment) ? "has neither progressed nor failed to" : undefined;
}

/** A change that is still to come, in words; undefined if there is none. */
export function unsettled(world: World, quota: number | undefined): string | undefined {
  const [deployments, sets, pods] = [
    world.objects("Deployment"),
    world.objects("ReplicaSet"),
    world.objects("Pod"),
  ];
  const scene = { world, deployments, sets, pods, quota: quota !== undefined };
  const left = unownedBy(sets, deployments, "Deployment") ?? unownedBy(pods, sets, "ReplicaSet");
  if (left !== undefined) return `${nameOf(left)} has lost its owner, and is not collected`;
  return (
    firstReason("Pod", pods, unsettledPod) ??
    firstReason("ReplicaSet", sets, (set) => unsettledSet(set, scene)) ??
    firstReason("Deployment", deployments, (one) => unsettledDeployment(one, scene))
  );
}
