// A namespace in which a story is played, as the test's own watch shows it: in the same words whichever the
// controllers are.
import { newNaming, shownPods } from "../../workloads/canonical/canonical.ts";
import { violations } from "../../workloads/deployments/invariants.ts";
import { canonicalState } from "../../workloads/deployments/state.ts";
import { isReady, uidOf } from "../../workloads/sequences/kinds.ts";
import type { Observer } from "../../workloads/observe.ts";
import { field, listAt, objectAt, textAt } from "../../../packages/sandbox/src/json.ts";
import type { JsonObject } from "../../../packages/sandbox/src/json.ts";
import type { Step } from "./deployment-story.ts";
import { eventually, type PodCluster } from "../pod-cluster.ts";
import { unrestOf } from "./unrest.ts";

/** What was seen of one step. */
export interface Played {
  /** The Deployment, its sets and its pods, when nothing more must come. */
  readonly seen: JsonObject;
  /** What did not hold at some moment, for people. */
  readonly broken: readonly string[];
}

export interface Stage {
  /** Does it, and waits until the world is at rest. */
  play(step: Step): Promise<Played>;
  /** What there is now. */
  look(): JsonObject;
  /** For which reasons there were events, as in `Deployment web: Normal ScalingReplicaSet`. */
  reasons(): readonly string[];
}

export async function openStage(cluster: PodCluster, observer: Observer, namespace: string): Promise<Stage> {
  const world = observer.world(namespace);
  const naming = newNaming(namespace);
  const kubectl = (args: readonly string[]) => cluster.kubectl([`--namespace=${namespace}`, ...args]);
  await kubectl(["create", "namespace", namespace]);
  const look = (): JsonObject => {
    const { deployments = null, replicaSets = null, created = null } = canonicalState(world, naming);
    const pods = shownPods(world, naming).map(({ owner, shown }) => toldPod(owner, shown));
    return { deployments, replicaSets, created, pods: pods.sort() };
  };
  const untilAtRest = () =>
    eventually(async () => {
      const newest = await kubectl(["get", "deployments,replicasets,pods", `-o=jsonpath=${versions}`]);
      const known = (["Deployment", "ReplicaSet", "Pod"] as const)
        .flatMap((kind) => world.objects(kind))
        .map((one) => `${uidOf(one)} ${textAt(one, "metadata", "resourceVersion") ?? ""}`);
      const isBehind = known.sort().join("\n") !== newest.trim().split("\n").sort().join("\n");
      const unrest = [...(isBehind ? ["The watch is behind"] : []), ...unrestOf(world)];
      if (unrest.length > 0) throw new Error(`It does not come to rest. ${unrest.join(", ")}`);
    });
  return {
    look,
    reasons: () =>
      Object.keys(objectAt(canonicalState(world, naming), "events"))
        .filter((object) => !object.startsWith("Pod "))
        .sort(),
    async play({ name, commands, evicts }) {
      const before = [...world.seen];
      for (const command of commands) await kubectl(command);
      await untilAtRest();
      const during = world.seen.slice(before.length);
      const action = evicts
        ? ({ do: "pods", of: "web", count: 0, change: "delete" } as const)
        : ({ do: "kubectl", args: [name] } as const);
      return { seen: look(), broken: violations({ action, before, during }) };
    },
  };
}

const versions = "{range .items[*]}{.metadata.uid} {.metadata.resourceVersion}{'\\n'}{end}";

/** A pod as `kubectl get pods` shows it, as far as two runs can have that in common. */
function toldPod(owner: string, pod: JsonObject): string {
  const images = listAt(pod, "spec", "containers").map((one) => textAt(one, "image"));
  const waits = listAt(pod, "status", "containerStatuses").flatMap(
    (one) => textAt(one, "state", "waiting", "reason") ?? [],
  );
  // Which of the two it is goes by the moment.
  const why = waits.map((reason) => reason.replace(/^(ErrImagePull|ImagePullBackOff)$/, "no image"));
  const place = field(pod, "spec", "nodeName") === undefined ? "nowhere" : "on a node";
  const ready = isReady(pod) ? "ready" : "not ready";
  return [owner, images.join(), textAt(pod, "status", "phase"), ready, place, ...why].join(" ");
}
