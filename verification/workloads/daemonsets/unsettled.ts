// The changes to DaemonSets, their pods and revisions that must still come, computed for any controller.
import { textAt } from "../../../packages/sandbox/src/json.ts";
import type { Json, JsonObject } from "../../../packages/sandbox/src/json.ts";
import type { World } from "../observe.ts";
import {
  counted,
  hasEnded,
  isActive,
  isBehind,
  isHeld,
  isLeaving,
  isOwnedBy,
  isReady,
  nameOf,
  numberAt,
} from "../sequences/kinds.ts";
import { firstReason, misfiled, unownedBy, unsettledPod } from "../sequences/settle.ts";
import {
  hashOf,
  isNotReady,
  isUpdated,
  nodeOf,
  placement,
  ripeningSeconds,
  strategyOf,
  surges,
} from "./daemon-set.ts";

interface Scene {
  readonly sets: readonly JsonObject[];
  readonly pods: readonly JsonObject[];
  readonly nodes: readonly JsonObject[];
  readonly revisions: readonly JsonObject[];
  /** At most so many pods. */
  readonly quota: number | undefined;
}

/** It has too many pods on a node, or too few. */
function misplaced(set: Json, theirs: readonly Json[], { nodes, pods, quota }: Scene): string | undefined {
  const isFull = quota !== undefined && pods.filter((pod) => !hasEnded(pod)).length >= quota;
  for (const node of nodes) {
    const here = theirs.filter((pod) => nodeOf(pod) === nameOf(node));
    const { length: staying } = here.filter((pod) => !isLeaving(pod));
    const where = placement(set, node);
    if (where === "none" && staying > 0) return `is to leave ${nameOf(node)}`;
    const isTaken = here.some((pod) => isHeld(pod) && !hasEnded(pod)) && !surges(set);
    if (where === "run" && staying === 0 && !isTaken && !isFull) return `has no pod on ${nameOf(node)}`;
    if (staying > (surges(set) ? 2 : 1)) return `has too many pods on ${nameOf(node)}`;
  }
  return undefined;
}

/** Its status does not agree with its pods. */
function miscounted(set: Json, theirs: readonly Json[], { nodes }: Scene): string | undefined {
  const isThere = (pod: Json): boolean => !(hasEnded(pod) && isLeaving(pod));
  const on = (node: Json): readonly Json[] =>
    theirs.filter((pod) => nodeOf(pod) === nameOf(node) && isThere(pod));
  const desired = nodes.filter((node) => placement(set, node) === "run");
  const scheduled = desired.filter((node) => on(node).length > 0);
  const others = nodes.filter((node) => placement(set, node) !== "run" && on(node).length > 0);
  const numbers = {
    desiredNumberScheduled: desired.length,
    currentNumberScheduled: scheduled.length,
    numberMisscheduled: others.length,
    // Of several pods it counts the first.
    ...(scheduled.every((node) => on(node).length === 1) && {
      numberReady: scheduled.filter((node) => on(node).every(isReady)).length,
    }),
  };
  for (const [name, number] of Object.entries(numbers))
    if (counted(set, name) !== number) return `has ${counted(set, name)} as ${name}, not ${number}`;
  const isRipening = counted(set, "numberReady") !== counted(set, "numberAvailable");
  return isRipening ? "has pods that become available" : undefined;
}

/** Old pods are to be replaced: only a new pod that is not ready, or one that lingers, stops it. */
function outdated(set: Json, theirs: readonly Json[], current: string): string | undefined {
  if (strategyOf(set) !== "RollingUpdate") return undefined;
  const old = theirs.filter((pod) => isActive(pod) && !isUpdated(set, pod, current));
  const fresh = theirs.filter((pod) => isActive(pod) && isUpdated(set, pod, current));
  const isStuck = fresh.some((pod) => !isReady(pod)) || theirs.some(isHeld);
  return old.length > 0 && !isStuck ? "has old pods" : undefined;
}

/** The revision with the highest number is that of the template; no more are kept than it asks for. */
function unsettledHistory(
  set: Json,
  own: readonly Json[],
  theirs: readonly Json[],
): { readonly current: string; readonly reason?: string } {
  const numberOf = (one: Json): number => numberAt(one, "revision") ?? 0;
  const [newest, ...old] = [...own].sort((a, b) => numberOf(b) - numberOf(a));
  if (newest === undefined) return { current: "", reason: "has no revision" };
  const used = new Set(theirs.map(hashOf));
  const unused = old.filter((one) => !used.has(hashOf(one))).length;
  const surplus = old.length - (numberAt(set, "spec", "revisionHistoryLimit") ?? 10);
  const current = hashOf(newest);
  return Math.min(surplus, unused) > 0 ? { current, reason: "has too many revisions" } : { current };
}

function unsettledSet(set: Json, scene: Scene): string | undefined {
  const theirs = scene.pods.filter((pod) => isOwnedBy(pod, set));
  if (isLeaving(set)) return theirs.some(isHeld) ? undefined : "is on its way out";
  const filing = misfiled(set, scene.pods) ?? misfiled(set, scene.revisions);
  if (filing !== undefined) return filing;
  if (isBehind(set)) return "is behind its spec";
  const failed = theirs.find((pod) => hasEnded(pod) && !isLeaving(pod));
  if (failed !== undefined && scene.nodes.some((node) => nameOf(node) === nodeOf(failed)))
    return `is to replace ${nameOf(failed)}`;
  const own = scene.revisions.filter((one) => isOwnedBy(one, set));
  const { current, reason } = unsettledHistory(set, own, theirs);
  return (
    reason ??
    misplaced(set, theirs, scene) ??
    outdated(set, theirs, current) ??
    (ripeningSeconds(set) > 0 && theirs.length === 0 ? undefined : miscounted(set, theirs, scene))
  );
}

/** A change that is still to come, in words; undefined if there is none. */
export function unsettled(world: World, quota: number | undefined): string | undefined {
  const scene: Scene = {
    sets: world.objects("DaemonSet"),
    pods: world.objects("Pod"),
    nodes: world.objects("Node"),
    revisions: world.objects("ControllerRevision"),
    quota,
  };
  const { sets, pods, nodes, revisions } = scene;
  const left = unownedBy([...pods, ...revisions], sets, "DaemonSet");
  if (left !== undefined) return `${nameOf(left)} has lost its owner, and is not collected`;
  const podReason = (pod: Json): string | undefined =>
    textAt(pod, "spec", "nodeName") !== undefined &&
    !nodes.some((node) => nameOf(node) === textAt(pod, "spec", "nodeName"))
      ? undefined
      : unsettledPod(pod);
  return (
    firstReason("Node", nodes, (node) => (isNotReady(node) ? "is not ready" : undefined)) ??
    firstReason("Pod", pods, podReason) ??
    firstReason("DaemonSet", sets, (set) => unsettledSet(set, scene))
  );
}
