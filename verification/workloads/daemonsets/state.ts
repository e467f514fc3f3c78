// The state of a namespace with DaemonSets and its nodes, so that it can be compared with another run's.
import {
  field,
  isObject,
  listAt,
  objectAt,
  omit,
  parseJson,
  type Json,
  type JsonObject,
} from "../../../packages/sandbox/src/json.ts";
import { tellEvents } from "../canonical/canonical-events.ts";
import {
  byText,
  createdPods,
  namedObjects,
  podsByOwner,
  walkOf,
  whole,
  type Naming,
} from "../canonical/canonical.ts";
import type { World } from "../observe.ts";
import { isActive, nameOf, runLabel } from "../sequences/kinds.ts";
import { nodeOf } from "./daemon-set.ts";

/** Our function counts the failures of a node there; kube-controller-manager keeps them to itself. */
const failuresAnnotation = "drover.dev/daemon-pod-failures";

/** Which of several equal nodes gets the first new pod is chance. */
const withoutNodes = (value: Json): Json =>
  parseJson(JSON.stringify(value).replace(/<namespace>-[a-z]\d\b/g, "<node>"));

function comparedPods(world: World, naming: Naming): JsonObject {
  const shown = (pod: Json): JsonObject => {
    const { annotations, ...metadata } = objectAt(pod, "metadata");
    const left = omit(objectAt(annotations ?? {}), failuresAnnotation);
    const kept = Object.keys(left).length === 0 ? metadata : { ...metadata, annotations: left };
    return objectAt(withoutNodes({ ...objectAt(pod), metadata: kept }));
  };
  const owned = podsByOwner(world, naming);
  return Object.fromEntries(
    Object.keys(owned).map((owner) => [owner, listAt(owned, owner).map(shown).sort(byText)]),
  );
}

/** The nodes without their names, and how many pods each has. */
const comparedNodes = (world: World): Json[] =>
  world
    .objects("Node")
    .map((node) => ({
      labels: omit(objectAt(node, "metadata", "labels"), runLabel),
      taints: listAt(node, "spec", "taints")
        .filter(isObject)
        .map((taint) => omit(taint, "timeAdded")),
      pods: world.objects("Pod").filter((pod) => isActive(pod) && nodeOf(pod) === nameOf(node)).length,
    }))
    .sort(byText);

/** The state of a namespace, in a form in which two runs can be compared. */
export function canonicalState(world: World, naming: Naming): JsonObject {
  const how = walkOf(world, naming);
  const revisions = namedObjects(world, how, "ControllerRevision", (object) => ({
    ...omit(whole(object, how), "spec", "status"),
    number: field(object, "revision") ?? null,
    data: how.mask(JSON.stringify(field(object, "data") ?? null)),
  }));
  return {
    daemonSets: namedObjects(world, how, "DaemonSet", (object) => whole(object, how)),
    revisions,
    pods: comparedPods(world, naming),
    nodes: comparedNodes(world),
    created: createdPods(world, how.mask, naming),
    events: withoutNodes(tellEvents(world, how.mask, naming.overtaken)),
  };
}
