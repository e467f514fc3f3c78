// When the world of a namespace has come to rest. Silence alone means little on a busy machine, where a controller may be
// about to act for seconds; so a family computes the changes that must still come, for any controller. What is wrong for good
// is waited for in vain, and then shown as it is.
import { setTimeout as delay } from "node:timers/promises";
import { fateAnnotation } from "@drover/real-cluster";
import { textAt } from "../../../packages/sandbox/src/json.ts";
import type { Json } from "../../../packages/sandbox/src/json.ts";
import {
  controllerOf,
  isHeld,
  isLeaving,
  isOwnedBy,
  isReady,
  nameOf,
  numberAt,
  selects,
  uidOf,
} from "./kinds.ts";
import type { Kind } from "./kinds.ts";
import type { Family } from "../family.ts";
import type { World } from "../observe.ts";

/** Time after which missing events are no longer awaited. */
const eventPatienceMs = 20_000;
/** Deadlines and ripening (minReadySeconds) up to so many seconds are waited for; longer ones are taken for never. */
export const awaitedSeconds = 10;

export const fateOf = (pod: Json): string => textAt(pod, "metadata", "annotations", fateAnnotation) ?? "";

export function unsettledPod(pod: Json): string | undefined {
  if (isLeaving(pod)) return isHeld(pod) ? undefined : "is on its way out";
  if (textAt(pod, "spec", "nodeName") === undefined) return "has no node";
  const phase = textAt(pod, "status", "phase");
  if (phase === "Failed" || phase === "Succeeded") return undefined;
  switch (fateOf(pod)) {
    case "pending":
      return undefined;
    case "fails":
      return "has not failed yet";
    case "succeeds":
      return "has not succeeded yet";
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

export function unownedBy(objects: readonly Json[], owners: readonly Json[], kind: string): Json | undefined {
  const uids = new Set(owners.map(uidOf));
  return objects.find((object) => {
    const owner = controllerOf(object);
    return textAt(owner, "kind") === kind && !uids.has(textAt(owner, "uid") ?? "") && !isHeld(object);
  });
}

/** Why the first of these objects that is not settled is not. */
export function firstReason(
  kind: string,
  objects: readonly Json[],
  why: (one: Json) => string | undefined,
): string | undefined {
  for (const object of objects) {
    const reason = why(object);
    if (reason !== undefined) return `${kind} ${nameOf(object)} ${reason}`;
  }
  return undefined;
}

const timesOf = (event: Json): number => numberAt(event, "count") ?? numberAt(event, "series", "count") ?? 1;
const about = (event: Json): string =>
  textAt(event, "involvedObject", "uid") ?? textAt(event, "regarding", "uid") ?? "";

/** The recorder of the real controllers may keep further ones to itself. */
const mostEvents = 20;

/** How many pods there were that a deed was done to, by the uids of the objects that did it. */
function deedsByOwner(pods: readonly Json[], ownerKind: Kind): ReadonlyMap<string, number> {
  const uids = new Set<string>();
  const deeds = new Map<string, number>();
  for (const pod of pods) {
    const owner = controllerOf(pod);
    if (textAt(owner, "kind") !== ownerKind || uids.has(uidOf(pod))) continue;
    uids.add(uidOf(pod));
    const by = textAt(owner, "uid") ?? "";
    deeds.set(by, (deeds.get(by) ?? 0) + 1);
  }
  return deeds;
}

/** True if an owner of pods lacks an event that it must have, also one that is gone. */
function isOwnerUntold(world: World, { podOwner, lacksEvent }: Family): boolean {
  const owners = new Map(
    world.seen.filter(({ kind }) => kind === podOwner).map(({ object }) => [uidOf(object), object]),
  );
  const events = world.objects("Event");
  return [...owners].some(([uid, owner]) =>
    lacksEvent(
      owner,
      events.filter((event) => about(event) === uid).map((event) => textAt(event, "reason") ?? ""),
    ),
  );
}

/** True if there are fewer events than Pods that were created or deleted. */
function arePodsUntold(world: World, ownerKind: Kind): boolean {
  const events = world.objects("Event");
  const pods = world.seen.filter(({ kind }) => kind === "Pod");
  const created = pods.filter(({ type }) => type === "ADDED").map(({ object }) => object);
  const standing = new Set(
    world
      .objects(ownerKind)
      .filter((owner) => !isLeaving(owner))
      .map(uidOf),
  );
  // Pods of a deleted owner are garbage-collected, without events.
  const deleted = pods
    .map(({ object }) => object)
    .filter((pod) => isLeaving(pod) && !world.deletedByHand.has(uidOf(pod)))
    .filter((pod) => standing.has(textAt(controllerOf(pod), "uid") ?? ""));
  const isUntoldOf = (of: readonly Json[], reason: string): boolean =>
    [...deedsByOwner(of, ownerKind)].some(([uid, count]) => {
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
  family: Family,
  { quota }: { readonly quota: number | undefined },
): Promise<string | undefined> {
  const { podOwner, quietMs, patienceMs } = family;
  const begun = Date.now();
  for (;;) {
    const reason = family.unsettled(world, quota);
    const now = Date.now();
    const quietSince = Math.max(begun, world.lastChange());
    const isQuiet = reason === undefined && now - quietSince >= quietMs;
    const isTold =
      world.toldUpTo(quietSince) && !isOwnerUntold(world, family) && !arePodsUntold(world, podOwner);
    if (isQuiet && (isTold || now - quietSince > eventPatienceMs)) return undefined;
    if (now - begun > patienceMs) return reason ?? "it goes on changing";
    await delay(100);
  }
}
