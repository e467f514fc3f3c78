// Random sequences of user actions on DaemonSets and nodes.
import { fateAnnotation } from "@drover/real-cluster";
import { pseudoRandom, type PseudoRandom } from "@drover/random";
import { textAt, type Json, type JsonObject } from "../../../packages/sandbox/src/json.ts";
import { type Action, type Change, itsNamespace, type Policy, type Sequence } from "../sequences/actions.ts";
import { runLabel } from "../sequences/kinds.ts";

interface Made {
  readonly name: string;
  gone: boolean;
  image: number;
  /** It may have pods that linger. In a rolling update it is chance which pods go first, and one that lingers stops it. */
  lingers: boolean;
}

/**
 * What distinguishes nodes is chance where a rollout gets stuck, or a quota refuses pods: kube-controller-manager takes
 * them in any order. So either the nodes of a sequence differ, or its rollouts may get stuck.
 */
interface Scene {
  readonly random: PseudoRandom;
  readonly uneven: boolean;
  readonly made: Made[];
  readonly nodes: string[];
  added: number;
  quota: boolean;
}

const maybe = (random: PseudoRandom, probability: number, fields: () => JsonObject): JsonObject =>
  random.chance(probability) ? fields() : {};

const disks = (random: PseudoRandom, operator: string): JsonObject => ({
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [
        { matchExpressions: [{ key: "disk", operator, values: [random.oneOf(["fast", "slow"])] }] },
      ],
    },
  },
});

const toleration = (random: PseudoRandom): JsonObject => ({
  key: "dedicated",
  ...random.oneOf<JsonObject>([{ operator: "Exists" }, { operator: "Equal", value: "db" }]),
  ...random.oneOf<JsonObject>([{}, { effect: "NoSchedule" }, { effect: "NoExecute" }]),
});

/** Where the pods may run. */
function placing({ random, uneven }: Scene): JsonObject {
  const own = uneven
    ? {
        affinity: random.chance(0.4) ? disks(random, random.oneOf(["In", "NotIn"])) : null,
        tolerations: random.chance(0.4) ? [toleration(random)] : null,
      }
    : {};
  return { ...own, nodeSelector: { [runLabel]: itsNamespace } };
}

function strategy(random: PseudoRandom): JsonObject {
  const rolling = (bounds: JsonObject): JsonObject => ({ type: "RollingUpdate", rollingUpdate: bounds });
  return random.oneOf<JsonObject>([
    rolling({ maxUnavailable: 1, maxSurge: 0 }),
    rolling({ maxUnavailable: 2, maxSurge: 0 }),
    rolling({ maxUnavailable: "50%", maxSurge: 0 }),
    rolling({ maxUnavailable: "100%", maxSurge: 0 }),
    rolling({ maxUnavailable: 0, maxSurge: 1 }),
    rolling({ maxUnavailable: 0, maxSurge: "50%" }),
    { type: "OnDelete", rollingUpdate: null },
  ]);
}

const image = (number: number): JsonObject => ({ containers: [{ name: "main", image: `img:${number}` }] });

function daemonSet(scene: Scene, name: string, number: number): JsonObject {
  const { random } = scene;
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name, labels: { app: name }, ...maybe(random, 0.3, () => ({ annotations: { team: "a" } })) },
    spec: {
      selector: { matchLabels: { app: name } },
      updateStrategy: strategy(random),
      ...maybe(random, 0.3, () => ({ minReadySeconds: 2 })),
      ...maybe(random, 0.5, () => ({ revisionHistoryLimit: random.oneOf([0, 1, 2]) })),
      template: {
        metadata: { labels: { app: name } },
        spec: {
          ...image(number),
          ...placing(scene),
          terminationGracePeriodSeconds: 0,
          ...maybe(random, 0.2, () => ({ hostNetwork: true })),
        },
      },
    },
  };
}

function creation(scene: Scene, name: string): Action {
  const known = scene.made.find((one) => one.name === name);
  // Another template may be that of pods which were left.
  const number = known === undefined ? 1 : scene.random.oneOf([known.image, 1, 2]);
  const object = daemonSet(scene, name, number);
  const lingers = textAt(object, "spec", "updateStrategy", "type") === "OnDelete";
  if (known === undefined) scene.made.push({ name, gone: false, image: number, lingers });
  else Object.assign(known, { gone: false, image: number, lingers });
  return { do: "create", object };
}

const spec = (name: string, body: JsonObject): Action => ({
  do: "patch",
  kind: "DaemonSet",
  name,
  patch: { spec: body },
});

function template({ random, uneven }: Scene, made: Made): Action {
  made.image = random.oneOf([1, 2, 3, made.image + 1]);
  const fate = uneven ? null : random.oneOf<Json>([null, null, "unready", "pending"]);
  const annotations = { [fateAnnotation]: fate };
  return spec(made.name, { template: { metadata: { annotations }, spec: image(made.image) } });
}

function specAction(scene: Scene, made: Made): Action {
  const { random, uneven } = scene;
  const { name } = made;
  const draw = random.below(100);
  if (draw < 45) return template(scene, made);
  if (draw < 55) return { do: "kubectl", args: ["rollout", "undo", `daemonset/${name}`] };
  if (draw < 60) return { do: "kubectl", args: ["rollout", "undo", `daemonset/${name}`, "--to-revision=1"] };
  if (draw < 65) return { do: "kubectl", args: ["rollout", "restart", `daemonset/${name}`] };
  if (draw < 78 && !made.lingers) return spec(name, { updateStrategy: strategy(random) });
  if (draw < 84) return spec(name, { revisionHistoryLimit: random.oneOf([0, 1, 2, 10]) });
  if (draw < 90) return spec(name, { minReadySeconds: random.oneOf([0, 2]) });
  return uneven ? spec(name, { template: { spec: placing(scene) } }) : template(scene, made);
}

const fate = (value: Json): Change => ({ patch: { metadata: { annotations: { [fateAnnotation]: value } } } });
const released: Change = { patch: { metadata: { labels: { app: "released" } } } };

function podAction({ random }: Scene, { name, lingers }: Made): Action {
  const change = random.oneOf<Change>([
    ...(["delete", "delete", "delete", released] as const),
    ...(lingers ? (["hold", "hold", "free"] as const) : []),
    ...[fate("unready"), fate("unready"), fate(null), fate("fails"), fate("succeeds")],
  ]);
  const count = change === "free" ? 9 : random.oneOf([1, 1, 2, 9]);
  return { do: "pods", of: name, count, change };
}

function nodeAction(scene: Scene): Action {
  const { random, uneven, nodes } = scene;
  if (random.chance(0.3) || !uneven) {
    const name = `n${++scene.added}`;
    if (nodes.length < 5) {
      nodes.push(name);
      return { do: "node", name, change: "add" };
    }
  }
  // The first one stays: orphans are made there.
  const name = random.oneOf(nodes);
  if (!uneven) return { do: "node", name, change: { patch: { metadata: { annotations: { seen: "yes" } } } } };
  if (random.chance(0.15) && name !== nodes[0]) {
    nodes.splice(nodes.indexOf(name), 1);
    return { do: "node", name, change: "delete" };
  }
  const patch = random.oneOf<JsonObject>([
    { metadata: { labels: { disk: "fast" } } },
    { metadata: { labels: { disk: "slow" } } },
    { metadata: { labels: { disk: null } } },
    { metadata: { labels: { [runLabel]: itsNamespace, other: "yes" } } },
    { spec: { taints: [{ key: "dedicated", value: "db", effect: "NoSchedule" }] } },
    { spec: { taints: [{ key: "dedicated", value: "web", effect: "NoSchedule" }] } },
    { spec: { taints: [{ key: "dedicated", value: "db", effect: "NoExecute" }] } },
    { spec: { taints: [{ key: "dedicated", value: "db", effect: "PreferNoSchedule" }] } },
    { spec: { taints: null } },
    { metadata: { annotations: { seen: "yes" } } },
    { metadata: { annotations: { seen: null } } },
  ]);
  return { do: "node", name, change: { patch } };
}

const orphan = (name: string, at: number, node: string): JsonObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: `orphan-${at}`, labels: { app: name } },
  spec: {
    containers: [{ name: "main", image: "img:orphan" }],
    nodeName: `${itsNamespace}-${node}`,
    terminationGracePeriodSeconds: 0,
    tolerations: [{ operator: "Exists" }],
  },
});

function encounter(scene: Scene, { name }: Made, at: number): Action {
  const { random, uneven, nodes } = scene;
  if (random.chance(0.4)) return { do: "create", object: orphan(name, at, nodes[0] ?? "") };
  if (random.chance(0.4) && !uneven) {
    scene.quota = !scene.quota;
    return { do: "quota", pods: scene.quota ? random.oneOf([0, 1, 2, 3]) : undefined };
  }
  return {
    do: "revision",
    which: random.oneOf(["newest", "oldest"]),
    change: random.oneOf<Change>(["delete", { patch: { revision: 20 + at } }]),
  };
}

function nextAction(scene: Scene, at: number): Action {
  const { random, made } = scene;
  if (scene.nodes.length === 0) return nodeAction({ ...scene, uneven: false, random });
  const one = made[random.below(made.length)];
  if (one === undefined) return creation(scene, "web");
  if (one.gone) return creation(scene, one.name);
  if (scene.quota && random.chance(0.5)) {
    scene.quota = false;
    return { do: "quota", pods: undefined };
  }
  const draw = random.below(100);
  if (draw < 8) {
    one.gone = true;
    const policy = random.oneOf<Policy>(["Background", "Foreground", "Orphan", "Orphan"]);
    return { do: "delete", kind: "DaemonSet", name: one.name, policy };
  }
  if (draw < 10) {
    for (const each of made) each.gone = true;
    return { do: "clear" };
  }
  if (draw < 18) return encounter(scene, one, at);
  if (draw < 38) return nodeAction(scene);
  if (draw < 62) return podAction(scene, one);
  if (draw < 67 && made.length < 2) return creation(scene, "api");
  return specAction(scene, one);
}

/** The sequence of a seed: two nodes, a DaemonSet, and 4 to 11 further actions. */
export function sequenceOf(seed: number): Sequence {
  const random = pseudoRandom(seed);
  const scene: Scene = { random, uneven: random.chance(0.5), made: [], nodes: [], added: 0, quota: false };
  const begin = ["n0", "m0"].map((name): Action => {
    scene.nodes.push(name);
    return { do: "node", name, change: "add" };
  });
  const length = 5 + random.below(8);
  return { seed, actions: [...begin, ...Array.from({ length }, (_, i) => nextAction(scene, i + 3))] };
}
