import {
  conditionOf,
  controllerOf,
  counted,
  isActive,
  isBehind,
  isLeaving,
  isOwnedBy,
  isReady,
  nameOf,
  wanted,
} from "../../workloads/sequences/kinds.ts";
import type { World } from "../../workloads/observe.ts";
import { isProgressAwaited } from "../../workloads/deployments/unsettled.ts";
import { misfiled } from "../../workloads/sequences/settle.ts";
import { field, listAt, textAt } from "../../../packages/sandbox/src/json.ts";
import type { Json, JsonObject } from "../../../packages/sandbox/src/json.ts";

/**
 * Changes that must still come, with any controllers: an object is being deleted, a status differs from the objects, a pod
 * could be ready and is not yet, or a short deadline runs.
 */
export function unrestOf(world: World): readonly string[] {
  const [pods, sets] = [world.objects("Pod"), world.objects("ReplicaSet")];
  const deployments = world.objects("Deployment");
  const leaving = [...pods, ...sets, ...deployments].filter(isLeaving);
  return [
    ...pods
      .filter((pod) => !isReady(pod) && !isHopeless(pod))
      .map((pod) => `${nameOf(pod)} is not ready yet`),
    ...leaving.map((one) => `${nameOf(one)} is on its way out`),
    ...sets.flatMap((set) =>
      unlike(
        set,
        pods.filter((pod) => isOwnedBy(pod, set)),
      ),
    ),
    ...deployments.flatMap((one) =>
      behind(
        one,
        sets.filter((set) => isOwnedBy(set, one)),
      ),
    ),
    ...sets.flatMap((set) => misfiled(set, pods.filter(isActive)) ?? []),
    ...deployments.flatMap((one) => misfiled(one, sets) ?? []),
    ...sets.filter((set) => isOrphan(set, deployments)).map((set) => `${nameOf(set)} has lost its owner`),
    ...pods.filter((pod) => isOrphan(pod, sets)).map((pod) => `${nameOf(pod)} has lost its owner`),
  ];
}

/** Its status reports that it waits for another object, or its process does. */
function isHopeless(pod: Json): boolean {
  const containers = listAt(pod, "status", "containerStatuses");
  const hasNoImage = containers.some((one) =>
    /^(ErrImagePull|ImagePullBackOff)$/.test(textAt(one, "state", "waiting", "reason") ?? ""),
  );
  const isUnwilling = listAt(pod, "spec", "containers")
    .flatMap((one) => listAt(one, "env"))
    .some((one) => textAt(one, "name") === "READY" && textAt(one, "value") === "no");
  return (
    hasNoImage ||
    (isUnwilling && containers.some((one) => field(one, "state", "running") !== undefined)) ||
    textAt(conditionOf(pod, "PodScheduled"), "reason") === "Unschedulable"
  );
}

const isOrphan = (object: Json, owners: readonly Json[]): boolean =>
  controllerOf(object) !== undefined && !owners.some((owner) => isOwnedBy(object, owner));

function unlike(set: JsonObject, theirs: readonly Json[]): readonly string[] {
  const active = theirs.filter(isActive);
  const ready = active.filter(isReady).length;
  const is = { replicas: active.length, readyReplicas: ready, availableReplicas: ready };
  return [
    ...(isBehind(set) ? [`${nameOf(set)} was not seen`] : []),
    ...(active.length === wanted(set) ? [] : [`${nameOf(set)} wants ${wanted(set)}, not ${active.length}`]),
    ...misnumbered(set, { ...is, terminatingReplicas: theirs.length - active.length }),
  ];
}

function behind(deployment: JsonObject, theirs: readonly Json[]): readonly string[] {
  const sum = (name: string): number => theirs.reduce<number>((total, set) => total + counted(set, name), 0);
  const names = ["replicas", "readyReplicas", "availableReplicas", "terminatingReplicas"];
  return [
    ...(isBehind(deployment) ? [`${nameOf(deployment)} was not seen`] : []),
    ...(isProgressAwaited(deployment) ? [`${nameOf(deployment)} has neither progressed nor failed to`] : []),
    ...misnumbered(deployment, Object.fromEntries(names.map((name) => [name, sum(name)]))),
  ];
}

const misnumbered = (object: Json, is: Readonly<Record<string, number>>): readonly string[] =>
  Object.entries(is)
    .filter(([name, count]) => counted(object, name) !== count)
    .map(([name, count]) => `${nameOf(object)} reports ${counted(object, name)} ${name}, not ${count}`);
