// Random sequences of user actions. The world settles after each action, so the same must come of it
// however fast a controller is.
import { delayAnnotation, fateAnnotation } from "@drover/real-cluster";
import type { Json, JsonObject } from "../../../packages/sandbox/src/json.ts";
import { pseudoRandom, type PseudoRandom } from "@drover/random";
import { holdingFinalizer } from "../sequences/kinds.ts";
import type { Action, Change, Policy, Sequence } from "../sequences/actions.ts";

type Workload = "Deployment" | "ReplicaSet";

/** What the sequence has made so far, as far as the next action is chosen by it. */
interface Made {
  readonly kind: Workload;
  readonly name: string;
  /** It was deleted since. */
  gone: boolean;
}

interface Scene {
  readonly random: PseudoRandom;
  readonly made: Made[];
  /** ReplicaSets that a Deployment is to adopt, once they have their pods, and where there is but one that would: else it would be a race. */
  readonly strays: { readonly name: string; readonly app: string }[];
  quota: boolean;
  /** Two Deployments have the same labels and selector. */
  shared: boolean;
}

const container = (image: string): JsonObject => ({ containers: [{ name: "main", image }] });
const images = ["img:1", "img:2", "img:3"] as const;

/** Few of them, so that they come back. Most are of pods that become ready. */
function templateChange(random: PseudoRandom): JsonObject {
  return random.oneOf<JsonObject>([
    { spec: container(random.oneOf(images)) },
    { spec: container(random.oneOf(images)) },
    { metadata: { labels: { version: random.oneOf(["1", "2"]) } } },
    { metadata: { annotations: { note: random.oneOf<Json>(["a", "b", null]) } } },
    { metadata: { annotations: { [fateAnnotation]: random.oneOf<Json>(["unready", "pending", null]) } } },
    {
      metadata: {
        annotations: { [fateAnnotation]: null, [delayAnnotation]: random.oneOf<Json>(["1s", null]) },
      },
    },
  ]);
}

function strategy(random: PseudoRandom): JsonObject {
  if (random.chance(0.2)) return { type: "Recreate", rollingUpdate: null };
  if (random.chance(0.3)) return { type: "RollingUpdate" };
  const [maxSurge, maxUnavailable] = random.oneOf<[Json, Json]>([
    [1, 0],
    [0, 1],
    ["25%", "25%"],
    ["50%", 0],
    [0, "50%"],
    [2, 1],
    ["100%", "100%"],
    ["10%", "10%"],
  ]);
  return { type: "RollingUpdate", rollingUpdate: { maxSurge, maxUnavailable } };
}

const replicas = (random: PseudoRandom): number => random.oneOf([0, 1, 2, 3, 3, 4, 5, 6]);
const ripening = (random: PseudoRandom): number => random.oneOf([0, 0, 0, 1, 2, 1_000]);

function deployment(random: PseudoRandom, name: string, app: string): JsonObject {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, ...(random.chance(0.3) && { annotations: { team: "a" } }), labels: { app } },
    spec: {
      replicas: replicas(random),
      selector: random.chance(0.8)
        ? { matchLabels: { app } }
        : { matchExpressions: [{ key: "app", operator: "In", values: [app, "other"] }] },
      template: {
        metadata: { labels: { app } },
        spec: { ...container("img:1"), terminationGracePeriodSeconds: random.oneOf([0, 5]) },
      },
      ...(random.chance(0.7) && { strategy: strategy(random) }),
      ...(random.chance(0.3) && { minReadySeconds: random.oneOf([0, 1, 2]) }),
      ...(random.chance(0.4) && { revisionHistoryLimit: random.oneOf([0, 1, 2]) }),
      ...(random.chance(0.4) && { progressDeadlineSeconds: random.oneOf([5, 1_200, 2_147_483_647]) }),
      ...(random.chance(0.08) && { paused: true }),
    },
  };
}

function replicaSet(random: PseudoRandom, name: string): JsonObject {
  return {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: { name, labels: { app: name } },
    spec: {
      replicas: replicas(random),
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: container(random.oneOf(images)) },
      ...(random.chance(0.3) && { minReadySeconds: ripening(random) }),
    },
  };
}

const costAnnotation = "controller.kubernetes.io/pod-deletion-cost";
/**
 * The order in which Pods are deleted is random if they differ only in age. So whatever makes a pod
 * different gives it a cost of its own.
 */
const ownCost = (at: number): JsonObject => ({ [costAnnotation]: String(-10 - at) });

const orphan = (at: number, app: string): JsonObject => ({
  apiVersion: "v1",
  kind: "Pod",
  // It is not ready when it is adopted, so that whether it goes first again does not depend on how soon that is.
  metadata: {
    name: `orphan-${at}`,
    labels: { app },
    annotations: { ...ownCost(at), [delayAnnotation]: "3s" },
  },
  spec: container("img:orphan"),
});

const cost = (value: number): Change => ({
  patch: { metadata: { annotations: { [costAnnotation]: String(value) } } },
});
const fate = (value: Json, at: number): Change => ({
  patch: { metadata: { annotations: { [fateAnnotation]: value, ...ownCost(at) } } },
});
/** It stays after its deletion, like a Pod with slow containers. */
const hold = (value: Json, at: number): Change => ({
  patch: { metadata: { finalizers: value, annotations: ownCost(at) } },
});
const released: JsonObject = { metadata: { labels: { app: "released" } } };

function podAction(random: PseudoRandom, of: string, at: number): Action {
  const change = random.oneOf<Change>([
    "delete",
    "delete",
    fate("unready", at),
    fate(null, at),
    fate("fails", at),
    cost(-100 - at),
    cost(100 + at),
    { patch: released },
    hold([holdingFinalizer], at),
    hold(null, at),
  ]);
  return { do: "pods", of, count: random.oneOf([1, 1, 2, 9]), change };
}

const spec = (kind: Workload, name: string, body: JsonObject): Action => ({
  do: "patch",
  kind,
  name,
  patch: { spec: body },
});

function rollout(random: PseudoRandom, name: string): Action {
  const target = `deployment/${name}`;
  return {
    do: "kubectl",
    args: random.oneOf<readonly string[]>([
      ["rollout", "undo", target],
      ["rollout", "undo", target],
      ["rollout", "undo", target, `--to-revision=${random.oneOf([1, 2, 3])}`],
      ["rollout", "restart", target],
      ["rollout", "pause", target],
      ["rollout", "resume", target],
    ]),
  };
}

/** As of old, by an annotation that the controller takes for what was a field. */
const rollbackBySpec = (random: PseudoRandom, name: string): Action => ({
  do: "patch",
  kind: "Deployment",
  name,
  patch: {
    metadata: { annotations: { "deprecated.deployment.rollback.to": random.oneOf(["0", "1", "2", "77"]) } },
  },
});

/** To what will be complete: where a rollout stands still, it would be chance how far the first one has come. */
function rollOver(random: PseudoRandom, name: string): Action {
  const to = (image: string): JsonObject => ({
    minReadySeconds: 0,
    template: {
      metadata: {
        annotations: { [fateAnnotation]: null, [delayAnnotation]: random.oneOf<Json>(["1s", null]) },
      },
      spec: container(image),
    },
  });
  const [first, then] = random.oneOf<readonly [string, string]>([
    ["img:1", "img:2"],
    ["img:2", "img:3"],
    ["img:3", "img:1"],
    ["img:3", "img:2"],
  ]);
  return { do: "rollOver", name, first: to(first), then: to(then) };
}

function deploymentAction(random: PseudoRandom, name: string, at: number): Action {
  const draw = random.below(100);
  if (draw < 16) return spec("Deployment", name, { replicas: replicas(random) });
  if (draw < 42) return spec("Deployment", name, { template: templateChange(random) });
  if (draw < 58) return rollout(random, name);
  if (draw < 64) return spec("Deployment", name, { strategy: strategy(random) });
  if (draw < 68) return spec("Deployment", name, { paused: random.chance(0.5) });
  if (draw < 71) return spec("Deployment", name, { minReadySeconds: ripening(random) });
  if (draw < 74) return spec("Deployment", name, { revisionHistoryLimit: random.oneOf([0, 1, 2, 10]) });
  if (draw < 77)
    return spec("Deployment", name, { progressDeadlineSeconds: random.oneOf([2_000, 6, 3_000]) });
  if (draw < 79)
    return { do: "patch", kind: "Deployment", name, patch: { metadata: { annotations: { team: "b" } } } };
  if (draw < 81) return rollbackBySpec(random, name);
  if (draw < 83)
    return spec("Deployment", name, {
      replicas: replicas(random),
      template: templateChange(random),
    });
  if (draw < 88) {
    const change = random.oneOf<Change>([
      "delete",
      { patch: released },
      { patch: { metadata: { annotations: { mine: "yes" } } } },
      { patch: { spec: { replicas: replicas(random) } } },
    ]);
    return { do: "replicaSet", of: name, which: random.oneOf(["newest", "oldest"]), change };
  }
  return podAction(random, name, at);
}

function replicaSetAction(random: PseudoRandom, name: string, at: number): Action {
  const draw = random.below(100);
  if (draw < 30) return spec("ReplicaSet", name, { replicas: replicas(random) });
  if (draw < 38) return spec("ReplicaSet", name, { minReadySeconds: ripening(random) });
  if (draw < 46) return spec("ReplicaSet", name, { template: templateChange(random) });
  return podAction(random, name, at);
}

function creation(scene: Scene, kind: Workload, name: string): Action {
  const { random, made } = scene;
  const known = made.find((one) => one.name === name);
  if (known) known.gone = false;
  else made.push({ kind, name, gone: false });
  if (kind === "ReplicaSet") return { do: "create", object: replicaSet(random, name) };
  const shares = name === "api" && random.chance(0.25);
  scene.shared ||= shares;
  return { do: "create", object: deployment(random, name, shares ? "web" : name) };
}

/** What meets a workload from outside. */
function encounter(scene: Scene, { name }: Made, at: number): Action {
  const { random } = scene;
  const draw = random.below(10);
  if (draw < 4) return { do: "create", object: orphan(at, name) };
  if (draw < 6 && !scene.shared) {
    const stray = { name: `stray-${at}`, app: name };
    scene.strays.push(stray);
    return { do: "create", object: replicaSet(random, stray.name) };
  }
  scene.quota = !scene.quota;
  return { do: "quota", pods: scene.quota ? random.oneOf([0, 2, 4]) : undefined };
}

function nextAction(scene: Scene, at: number): Action {
  const { random, made } = scene;
  const one = made[random.below(made.length)];
  if (one === undefined) return creation(scene, random.chance(0.7) ? "Deployment" : "ReplicaSet", "web");
  if (one.gone) return creation(scene, one.kind, one.name);
  if (scene.quota && random.chance(0.5)) {
    scene.quota = false;
    return { do: "quota", pods: undefined };
  }
  const stray = scene.strays[0];
  if (stray !== undefined && !scene.shared && random.chance(0.5)) {
    scene.strays.shift();
    const patch = { metadata: { labels: { app: stray.app } } };
    return { do: "patch", kind: "ReplicaSet", name: stray.name, patch };
  }
  const draw = random.below(100);
  if (draw < 7) {
    one.gone = true;
    const policy = random.oneOf<Policy>(["Background", "Foreground", "Orphan"]);
    return { do: "delete", kind: one.kind, name: one.name, policy };
  }
  if (draw < 9) {
    for (const each of made) each.gone = true;
    return { do: "clear" };
  }
  if (draw < 18) return encounter(scene, one, at);
  if (draw < 22 && made.length < 2)
    return creation(scene, random.chance(0.5) ? "Deployment" : "ReplicaSet", "api");
  if (one.kind === "Deployment" && !scene.quota && random.chance(0.08)) return rollOver(random, one.name);
  return one.kind === "Deployment"
    ? deploymentAction(random, one.name, at)
    : replicaSetAction(random, one.name, at);
}

/** The sequence of a seed: 5 to 12 actions. */
export function sequenceOf(seed: number): Sequence {
  const scene: Scene = { random: pseudoRandom(seed), made: [], strays: [], quota: false, shared: false };
  const length = 5 + scene.random.below(8);
  return { seed, actions: Array.from({ length }, (_, i) => nextAction(scene, i + 1)) };
}
