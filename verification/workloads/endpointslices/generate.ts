// Random sequences of user actions on Services, and of what kubelets do with their pods.
import { pseudoRandom, type PseudoRandom } from "@drover/random";
import type { Json, JsonObject } from "../../../packages/sandbox/src/json.ts";
import type { Action, Change, Policy, Sequence } from "../sequences/actions.ts";
import { managedByLabel } from "./service.ts";
import { pods, podStatus, timeOf, type MadePod } from "./pods.ts";

interface Scene {
  readonly random: PseudoRandom;
  /** By name; false once it was deleted. */
  readonly services: Map<string, boolean>;
  readonly pods: MadePod[];
  /** The number of the next action. */
  at: number;
}

const port = (random: PseudoRandom, name: string): JsonObject => ({
  name,
  port: name === "http" ? 80 : 53,
  targetPort: random.oneOf<Json>(["http", 8080, 8080]),
  ...(random.chance(0.2) && { protocol: random.oneOf(["UDP", "SCTP"]) }),
  ...(random.chance(0.3) && { appProtocol: "kubernetes.io/h2c" }),
});

const ports = (random: PseudoRandom): readonly Json[] =>
  random.oneOf<() => readonly Json[]>([
    () => [port(random, "http")],
    () => [port(random, "http"), port(random, "dns")],
    () => [port(random, "dns"), port(random, "http")],
    () => [{ port: 80, targetPort: random.oneOf<Json>(["http", 8080]) }],
  ])();

const kindsOfServices: readonly JsonObject[] = [
  {},
  {},
  {},
  { clusterIP: "None" },
  { clusterIP: "None" },
  { type: "NodePort" },
  { type: "LoadBalancer" },
  { type: "ExternalName", externalName: "example.com" },
];

function serviceSpec(random: PseudoRandom, name: string): JsonObject {
  const kind = random.oneOf(kindsOfServices);
  const isHeadless = kind["clusterIP"] === "None";
  const isExternal = kind["type"] === "ExternalName";
  return {
    ...kind,
    ...(!random.chance(0.08) && {
      selector: random.oneOf([{ app: name }, { app: name }, { app: name, tier: "front" }]),
    }),
    ...(!(isHeadless && random.chance(0.3)) && { ports: ports(random) }),
    ...(random.chance(0.2) && { publishNotReadyAddresses: true }),
    ...(!isExternal &&
      random.chance(0.35) && {
        ipFamilyPolicy: "RequireDualStack",
        ipFamilies: random.oneOf([
          ["IPv4", "IPv6"],
          ["IPv6", "IPv4"],
        ]),
      }),
    ...(random.chance(0.25) && { trafficDistribution: random.oneOf(distributions) }),
  };
}

const distributions: readonly string[] = ["PreferClose", "PreferSameZone", "PreferSameNode"];

function createService({ random, services }: Scene, name: string): Action {
  services.set(name, true);
  const labels = {
    ...(random.chance(0.5) && { team: "a" }),
    ...(random.chance(0.1) && { [managedByLabel]: "mine" }),
  };
  return {
    do: "create",
    object: {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name, labels },
      spec: serviceSpec(random, name),
    },
  };
}

function createPods(scene: Scene): Action {
  const { random } = scene;
  const count = random.oneOf([1, 2, 2, 3, 3, 5, 9]);
  const made = pods(random, { before: scene.pods.length, count, since: timeOf(scene.at) });
  scene.pods.push(...made);
  return {
    do: "createAll",
    objects: made.map((pod) =>
      pod.ip === undefined ? pod.object : { ...pod.object, status: podStatus(pod) },
    ),
  };
}

const patched = (name: string, patch: JsonObject): Action => ({ do: "patch", kind: "Service", name, patch });

function serviceAction({ random }: Scene, name: string): Action {
  const spec = (body: JsonObject): Action => patched(name, { spec: body });
  return random.oneOf<() => Action>([
    () =>
      spec({
        selector: random.oneOf<JsonObject>([
          { app: "web" },
          { app: "api", tier: null },
          { app: "web", tier: "front" },
        ]),
      }),
    () => spec({ selector: null }),
    () => spec({ ports: ports(random) }),
    () => spec({ ports: ports(random) }),
    () => spec({ publishNotReadyAddresses: random.chance(0.5) }),
    () => spec({ trafficDistribution: random.oneOf<Json>([...distributions, null]) }),
    () =>
      spec({
        type: "ExternalName",
        externalName: "example.com",
        clusterIP: null,
        clusterIPs: null,
        ipFamilies: null,
        ipFamilyPolicy: null,
      }),
    () => spec({ type: random.oneOf(["ClusterIP", "NodePort"]) }),
    () => spec({ ipFamilyPolicy: "RequireDualStack" }),
    () => spec({ ipFamilyPolicy: "SingleStack" }),
    () =>
      patched(name, {
        metadata: { labels: random.oneOf<JsonObject>([{ team: "b" }, { team: null }, { other: "x" }]) },
      }),
    () => patched(name, { metadata: { annotations: { note: "x" } } }),
  ])();
}

/** Some of the pods that are there. */
const some = (
  { random, pods: all }: Scene,
  isFit: (pod: MadePod) => boolean = () => true,
): readonly MadePod[] =>
  random.some(
    all.filter((pod) => (!pod.gone || pod.held) && isFit(pod)),
    random.oneOf([1, 1, 2, 5]),
  );

const named = (chosen: readonly MadePod[], change: Change): Action => ({
  do: "namedPods",
  names: chosen.map(({ name }) => name),
  change,
});

/** What a kubelet reports about pods. */
function statusAction(scene: Scene): Action {
  const { random } = scene;
  // A pod that was never ready may end without a change of its readiness, after which kube-controller-manager leaves it.
  const ends = random.chance(0.2);
  const ready = !ends && random.chance(0.6);
  const chosen = some(scene, (pod) => !pod.ended && pod.ip !== undefined && pod.ready !== ready);
  if (chosen.length === 0) return createPods(scene);
  const since = timeOf(scene.at);
  for (const pod of chosen) Object.assign(pod, { ended: ends, ready, since });
  // kube-controller-manager records the time of a pod that has ended when it is selected first, once.
  const end = ends ? { phase: random.oneOf(["Failed", "Succeeded"]), conditions: [] } : {};
  return named(chosen, { status: { ...podStatus({ ready, since }), ...end } });
}

/** A pod that had none gets its address, or one gets others. */
function addressAction(scene: Scene): Action {
  const { random } = scene;
  const [pod] = some(scene, ({ ended }) => !ended);
  if (pod === undefined) return createPods(scene);
  pod.ip = pod.ip === undefined ? pod.number : pod.ip + 100;
  pod.dual = random.chance(0.5);
  if (!pod.ready && random.chance(0.5)) Object.assign(pod, { ready: true, since: timeOf(scene.at) });
  return named([pod], { status: podStatus(pod) });
}

function podAction(scene: Scene): Action {
  const { random } = scene;
  const draw = random.below(100);
  if (draw < 35) return statusAction(scene);
  if (draw < 50) return addressAction(scene);
  const isFree = draw >= 80 && draw < 86;
  const chosen = some(scene, (pod) => (isFree ? pod.held : !pod.gone));
  if (chosen.length === 0) return createPods(scene);
  if (draw < 68)
    return named(chosen, {
      patch: {
        metadata: {
          labels: { app: random.oneOf(["web", "api", "none"]), tier: random.oneOf<Json>(["front", null]) },
        },
      },
    });
  for (const pod of draw < 86 ? chosen : []) pod.held = !isFree;
  if (draw < 86) return named(chosen, isFree ? "free" : "hold");
  for (const pod of chosen) pod.gone = true;
  return named(chosen, "delete");
}

/** Changes by which kube-controller-manager does not lose a slice: see the README. */
const sliceChanges: readonly Change[] = [
  "delete",
  "delete",
  { patch: { endpoints: [] } },
  { patch: { endpoints: [{ addresses: ["10.9.255.1"], conditions: { ready: true } }] } },
  { patch: { ports: [{ name: "http", port: 1, protocol: "TCP" }] } },
  { patch: { metadata: { labels: { team: "changed" } } } },
  { patch: { metadata: { annotations: { note: "x" } } } },
];

const foreign = (at: number, name: string): Action => ({
  do: "create",
  object: {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name: `foreign-${at}`, labels: { "kubernetes.io/service-name": name } },
    addressType: "IPv4",
    endpoints: [{ addresses: ["10.9.254.1"] }],
    ports: [],
  },
});

function nextAction(scene: Scene): Action {
  const { random, services, at } = scene;
  if (!services.has("web")) return createService(scene, "web");
  if (scene.pods.length === 0) return createPods(scene);
  const name = random.oneOf([...services.keys()]);
  if (services.get(name) !== true) return createService(scene, name);
  const draw = random.below(100);
  if (draw < 5) {
    services.set(name, false);
    return {
      do: "delete",
      kind: "Service",
      name,
      policy: random.oneOf<Policy>(["Background", "Foreground", "Orphan"]),
    };
  }
  if (draw < 12 && services.size < 2) return createService(scene, "api");
  if (draw < 17) return { do: "slice", of: name, change: random.oneOf(sliceChanges) };
  if (draw < 19) return foreign(at, name);
  if (draw < 28) return createPods(scene);
  if (draw < 55) return serviceAction(scene, name);
  return podAction(scene);
}

/** The sequence of a seed: 6 to 14 actions. */
export function sequenceOf(seed: number): Sequence {
  const scene: Scene = { random: pseudoRandom(seed), services: new Map(), pods: [], at: 0 };
  const length = 6 + scene.random.below(9);
  return {
    seed,
    actions: Array.from({ length }, (_, i) => {
      scene.at = i + 1;
      return nextAction(scene);
    }),
  };
}
