// When the world of a namespace has come to rest. Silence alone means little on a busy machine, where a controller may be
// about to act for seconds; so the changes that must still come are computed here, for any controller. What is wrong for good
// is waited for in vain, and then shown as it is.
import { setTimeout as delay } from "node:timers/promises";
import { fateAnnotation } from "@drover/real-cluster";
import { field, listAt, textAt } from "../../../packages/sandbox/src/json.ts";
import type { Json, JsonObject } from "../../../packages/sandbox/src/json.ts";
import {
  conditionOf,
  controllerOf,
  counted,
  holdingFinalizer,
  isActive,
  isBehind,
  isLeaving,
  isOwnedBy,
  isReady,
  nameOf,
  numberAt,
  selects,
  templateOf,
  uidOf,
  wanted,
} from "./kinds.ts";
import type { World } from "../observe.ts";

/** Nothing has changed for so long, and nothing is known that must still come: it has settled. */
export const quietMs = 1_200;
/** A world that has not settled by then is compared as it is. A quota that was lifted is noticed after a back-off. */
export const patienceMs = 60_000;
/** Time after which missing events are no longer awaited. */
const eventPatienceMs = 20_000;
/** Deadlines and ripening (minReadySeconds) up to so many seconds are waited for; longer ones are taken for never. */
const awaitedSeconds = 10;

interface Scene {
  readonly world: World;
  readonly deployments: readonly JsonObject[];
  readonly sets: readonly JsonObject[];
  readonly pods: readonly JsonObject[];
  /** A quota refuses pods. */
  readonly quota: boolean;
}

/** A finalizer keeps it from being deleted. */
const isHeld = (object: Json): boolean =>
  listAt(object, "metadata", "finalizers").some((one) => one === holdingFinalizer);

const fateOf = (pod: Json): string => textAt(pod, "metadata", "annotations", fateAnnotation) ?? "";

function unsettledPod(pod: Json): string | undefined {
  if (isLeaving(pod)) return isHeld(pod) ? undefined : "is on its way out";
  if (textAt(pod, "spec", "nodeName") === undefined) return "has no node";
  const phase = textAt(pod, "status", "phase");
  if (phase === "Failed") return undefined;
  switch (fateOf(pod)) {
    case "pending":
      return undefined;
    case "fails":
      return "has not failed yet";
    case "unready":
      return phase === "Running" && !isReady(pod) ? undefined : "is not unready yet";
    default:
      return isReady(pod) ? undefined : "is not ready yet";
  }
}

/** What belongs to it by its labels or by its owner reference, and not by both. */
export function misfiled(owner: Json, objects: readonly Json[]): string | undefined {
  for (const object of objects) {
    if (isLeaving(object)) continue;
    const matches = selects(owner, object);
    if (isOwnedBy(object, owner) && !matches) return `must release ${nameOf(object)}`;
    if (controllerOf(object) === undefined && matches) return `may adopt ${nameOf(object)}`;
  }
  return undefined;
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

function unownedBy(objects: readonly Json[], owners: readonly Json[], kind: string): Json | undefined {
  const uids = new Set(owners.map(uidOf));
  return objects.find((object) => {
    const owner = controllerOf(object);
    return textAt(owner, "kind") === kind && !uids.has(textAt(owner, "uid") ?? "") && !isHeld(object);
  });
}

/** What must still come, for people; undefined when nothing must. */
export function unsettled(world: World, quota: boolean): string | undefined {
  const [deployments, sets, pods] = [
    world.objects("Deployment"),
    world.objects("ReplicaSet"),
    world.objects("Pod"),
  ];
  const scene = { world, deployments, sets, pods, quota };
  const left = unownedBy(sets, deployments, "Deployment") ?? unownedBy(pods, sets, "ReplicaSet");
  if (left !== undefined) return `${nameOf(left)} has lost its owner, and is not collected`;
  const find = (
    kind: string,
    objects: readonly Json[],
    why: (one: Json) => string | undefined,
  ): string | undefined => {
    for (const object of objects) {
      const reason = why(object);
      if (reason !== undefined) return `${kind} ${nameOf(object)} ${reason}`;
    }
    return undefined;
  };
  return (
    find("Pod", pods, unsettledPod) ??
    find("ReplicaSet", sets, (set) => unsettledSet(set, scene)) ??
    find("Deployment", deployments, (one) => unsettledDeployment(one, scene))
  );
}

const timesOf = (event: Json): number => numberAt(event, "count") ?? numberAt(event, "series", "count") ?? 1;
const about = (event: Json): string =>
  textAt(event, "involvedObject", "uid") ?? textAt(event, "regarding", "uid") ?? "";

/** The recorder of the real controllers may keep further ones to itself. */
const mostEvents = 20;

/** How many pods there were that a deed was done to, by the uids of the sets that did it. */
function deedsBySet(pods: readonly Json[]): ReadonlyMap<string, number> {
  const uids = new Set<string>();
  const deeds = new Map<string, number>();
  for (const pod of pods) {
    const owner = controllerOf(pod);
    if (textAt(owner, "kind") !== "ReplicaSet" || uids.has(uidOf(pod))) continue;
    uids.add(uidOf(pod));
    const set = textAt(owner, "uid") ?? "";
    deeds.set(set, (deeds.get(set) ?? 0) + 1);
  }
  return deeds;
}

/** True if there are fewer events than Pods that were created, refused or deleted. */
function untoldPods(world: World): boolean {
  const events = world.objects("Event");
  const isUntold = (set: Json): boolean =>
    conditionOf(set, "ReplicaFailure") !== undefined &&
    !events.some((event) => about(event) === uidOf(set) && textAt(event, "reason") === "FailedCreate");
  if (world.objects("ReplicaSet").some(isUntold)) return true;
  const pods = world.seen.filter(({ kind }) => kind === "Pod");
  const created = pods.filter(({ type }) => type === "ADDED").map(({ object }) => object);
  const standing = new Set(
    world
      .objects("ReplicaSet")
      .filter((set) => !isLeaving(set))
      .map(uidOf),
  );
  // Pods of a deleted set are garbage-collected, without events.
  const deleted = pods
    .map(({ object }) => object)
    .filter((pod) => isLeaving(pod) && !world.deletedByHand.has(uidOf(pod)))
    .filter((pod) => standing.has(textAt(controllerOf(pod), "uid") ?? ""));
  const isUntoldOf = (of: readonly Json[], reason: string): boolean =>
    [...deedsBySet(of)].some(([uid, count]) => {
      const theirs = events.filter((event) => about(event) === uid);
      const sum = (some: readonly Json[]): number =>
        some.reduce((total: number, one) => total + timesOf(one), 0);
      const isRefused = theirs.some((event) => textAt(event, "reason") === "FailedCreate");
      if (isRefused || sum(theirs) >= mostEvents) return false;
      return sum(theirs.filter((event) => textAt(event, "reason") === reason)) < count;
    });
  return isUntoldOf(created, "SuccessfulCreate") || isUntoldOf(deleted, "SuccessfulDelete");
}

/** Waits until the world has settled. Returns what is still missing after the timeout. */
export async function settle(
  world: World,
  { quota }: { readonly quota: boolean },
): Promise<string | undefined> {
  const begun = Date.now();
  for (;;) {
    const reason = unsettled(world, quota);
    const now = Date.now();
    const quietSince = Math.max(begun, world.lastChange());
    const isQuiet = reason === undefined && now - quietSince >= quietMs;
    const isTold = world.toldUpTo(quietSince) && !untoldPods(world);
    if (isQuiet && (isTold || now - quietSince > eventPatienceMs)) return undefined;
    if (now - begun > patienceMs) return reason ?? "it goes on changing";
    await delay(100);
  }
}
