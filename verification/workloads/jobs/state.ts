// The state of a namespace with Jobs, so that it can be compared with another run's.
import {
  isArray,
  isObject,
  listAt,
  textAt,
  type Json,
  type JsonObject,
} from "../../../packages/sandbox/src/json.ts";
import { tellEvents } from "../canonical/canonical-events.ts";
import {
  createdPods,
  namedObjects,
  podsByOwner,
  walkOf,
  whole,
  type Naming,
} from "../canonical/canonical.ts";
import type { World } from "../observe.ts";
import { controllerOf, hasEnded } from "../sequences/kinds.ts";
import { isTracked, releasedLabel } from "./job.ts";

/** When the containers of a pod that has failed ended, ms since 1970. */
const endsOf = (pod: JsonObject): readonly number[] =>
  textAt(pod, "status", "phase") === "Failed"
    ? listAt(pod, "status", "containerStatuses").flatMap(
        (one) => Date.parse(textAt(one, "state", "terminated", "finishedAt") ?? "") || [],
      )
    : [];

/** How long after the last failure pods of the last action were created, in tens of seconds: the back-off. */
function replacements(world: World, { begun }: Naming, mask: (text: string) => string): JsonObject {
  // The server's times are whole seconds, rounded down.
  const since = (begun.at(-1) ?? 0) - 1_000;
  const failures = new Map<string, number>();
  const delays: Record<string, number[]> = {};
  for (const { kind, type, object } of world.seen) {
    const owner = controllerOf(object);
    if (kind !== "Pod" || owner === undefined) continue;
    const uid = textAt(owner, "uid") ?? "";
    const last = Math.max(failures.get(uid) ?? 0, ...endsOf(object));
    failures.set(uid, last);
    const created = Date.parse(textAt(object, "metadata", "creationTimestamp") ?? "");
    if (type === "ADDED" && created > since && last > since)
      (delays[mask(textAt(owner, "name") ?? "")] ??= []).push(Math.round((created - last) / 10_000));
  }
  return delays;
}

/**
 * The pods by their owners, without those that have ended, are counted, and were relabelled since: kube-controller-manager
 * takes their owner from them. Nothing depends on it but whether they go with the Job.
 */
function comparedPods(world: World, naming: Naming): JsonObject {
  const isLeft = (pod: JsonObject): boolean =>
    hasEnded(pod) && textAt(pod, "metadata", "labels", "app") === releasedLabel && !isTracked(pod);
  const all = Object.entries(podsByOwner(world, naming)).map(([owner, pods]): [string, Json[]] => [
    owner,
    (isArray(pods) ? pods : []).filter((pod) => !(isObject(pod) && isLeft(pod))),
  ]);
  return Object.fromEntries(all.filter(([, pods]) => pods.length > 0));
}

/** The state of a namespace, in a form in which two runs can be compared. */
export function canonicalState(world: World, naming: Naming): JsonObject {
  const how = walkOf(world, naming);
  return {
    jobs: namedObjects(world, how, "Job", (object) => whole(object, how)),
    pods: comparedPods(world, naming),
    created: createdPods(world, how.mask, naming),
    replacements: replacements(world, naming, how.mask),
    events: tellEvents(world, how.mask, naming.overtaken),
  };
}
