// The state of a namespace with Deployments and ReplicaSets, so that it can be compared with another run's.
import {
  isObject,
  listAt,
  objectAt,
  omit,
  textAt,
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
  type Walk,
} from "../canonical/canonical.ts";
import type { World } from "../observe.ts";
import { numberAt } from "../sequences/kinds.ts";

/** Which of the two a rollout is that stands still, is decided by which of two writes comes first. */
const standing = new Set(["NewReplicaSetCreated", "ReplicaSetUpdated"]);

/**
 * When it became available is chance where it was not for a moment: the controller may have looked away meanwhile.
 */
function deploymentCondition(condition: JsonObject): JsonObject {
  if (condition["type"] === "Available")
    return { ...condition, lastUpdateTime: "<time>", lastTransitionTime: "<time>" };
  return standing.has(textAt(condition, "reason") ?? "")
    ? { ...condition, reason: [...standing].join(" or "), message: "<as the reason>" }
    : condition;
}

function deployment(object: JsonObject, how: Walk): JsonObject {
  const { status, ...rest } = whole(object, how);
  const conditions = listAt(status ?? null, "conditions")
    .filter(isObject)
    .map(deploymentCondition);
  return { ...rest, status: { ...objectAt(status ?? null), conditions } };
}

/** How often it was scaled on the way is a matter of timing; whether its status is about its spec is not. */
function replicaSet(object: JsonObject, how: Walk): JsonObject {
  const { metadata, status, ...rest } = whole(object, how);
  const isBehind =
    numberAt(object, "metadata", "generation") !== numberAt(object, "status", "observedGeneration");
  return {
    ...rest,
    metadata: omit(objectAt(metadata ?? null), "generation"),
    status: { ...objectAt(status ?? null), observedGeneration: isBehind ? "behind" : "up to date" },
  };
}

/** The state of a namespace, in a form in which two runs can be compared. */
export function canonicalState(world: World, naming: Naming): JsonObject {
  const how = walkOf(world, naming);
  return {
    deployments: namedObjects(world, how, "Deployment", (object) => deployment(object, how)),
    replicaSets: namedObjects(world, how, "ReplicaSet", (object) => replicaSet(object, how)),
    pods: podsByOwner(world, naming),
    created: createdPods(world, how.mask, naming),
    events: tellEvents(world, how.mask, naming.overtaken),
  };
}
