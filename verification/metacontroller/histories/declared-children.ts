// Draws the children that a parent declares. The values are few, so that they come back.
import type { PseudoRandom } from "@drover/random";
import {
  field,
  type Json,
  type JsonObject,
  listAt,
  objectAt,
  present,
  textAt,
  withField,
} from "../../../packages/sandbox/src/json.ts";
import type { ChildKind } from "./actions.ts";

/** The name of a label and an annotation that the parent declares and others set as well. */
export const shared = "shared";
export const sharedValues = ["x", "y"] as const;

/** A map with some of these names. */
const map = (
  random: PseudoRandom,
  names: readonly string[],
  values: readonly string[],
  least = 0,
): JsonObject =>
  Object.fromEntries(
    random.some(names, random.between(least, names.length)).map((name) => [name, random.oneOf(values)]),
  );

/** Sometimes nothing: the field is not declared. */
const maybe = <Value>(random: PseudoRandom, value: Value, probability = 0.6): Value | undefined =>
  random.chance(probability) ? value : undefined;

const values = ["1", "2", "x", "a longer text\nof two lines\n"] as const;

const labels = (random: PseudoRandom): JsonObject => ({
  ...map(random, ["app", "tier", "example.com/team"], ["a", "b", ""]),
  ...(random.chance(0.3) && { [shared]: random.oneOf(sharedValues) }),
});
const annotations = (random: PseudoRandom): JsonObject => ({
  ...map(random, ["note", "example.com/owner", "empty"], [...values, ""]),
  ...(random.chance(0.3) && { [shared]: random.oneOf(sharedValues) }),
});

export const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** Draws one part of an object again. */
type Redraw = (random: PseudoRandom, object: JsonObject) => JsonObject;

const setAt = (
  object: JsonObject,
  [first = "", ...rest]: readonly string[],
  to: Json | undefined,
): JsonObject => withField(object, first, rest.length === 0 ? to : setAt(objectAt(object, first), rest, to));

const at =
  (path: readonly string[], draw: (random: PseudoRandom) => Json | undefined): Redraw =>
  (random, object) =>
    setAt(object, path, draw(random));

const ofMetadata: readonly Redraw[] = [
  at(["metadata", "labels"], (random) => maybe(random, labels(random), 0.8)),
  at(["metadata", "annotations"], (random) => maybe(random, annotations(random), 0.8)),
];

const ofConfigMap: readonly Redraw[] = [
  at(["data"], (random) => maybe(random, map(random, ["a", "b", "c", "d.txt"], values), 0.9)),
  at(["binaryData"], (random) => maybe(random, map(random, ["bin"], values.map(base64)), 0.3)),
];

const ofSecret: readonly Redraw[] = [
  // Immutable: a change makes a new Secret necessary.
  at(["type"], (random) => random.oneOf([undefined, "Opaque", "example.com/token"])),
  // Not empty: Metacontroller would see a difference in each run, and make the Secret again.
  at(["data"], (random) => maybe(random, map(random, ["user", "token", "key"], values.map(base64), 1), 0.9)),
];

const servicePorts = (random: PseudoRandom): Json =>
  random.some([80, 443, 8080, 9090], random.between(1, 3)).map((port) =>
    present({
      port,
      name: `p${port}`,
      targetPort: maybe<Json>(random, random.oneOf<Json>(["web", 8000, 8001]), 0.5),
      protocol: maybe(random, random.oneOf(["TCP", "UDP"]), 0.4),
      appProtocol: maybe(random, "http", 0.2),
    }),
  );

const ofService: readonly Redraw[] = [
  at(["spec", "ports"], servicePorts),
  at(["spec", "selector"], (random) => maybe(random, map(random, ["app", "tier"], ["a", "b"]), 0.9)),
  at(["spec", "type"], (random) => random.oneOf([undefined, "ClusterIP", "NodePort"])),
  at(["spec", "publishNotReadyAddresses"], (random) => maybe(random, true, 0.3)),
];

const env = (random: PseudoRandom): Json =>
  random
    .some(["A", "B", "C", "POD"], random.below(4))
    .map((name) =>
      name === "POD"
        ? { name, valueFrom: { fieldRef: { fieldPath: random.oneOf(["metadata.name", "metadata.uid"]) } } }
        : { name, value: random.oneOf(["1", "2", ""]) },
    );

const containerPorts = (random: PseudoRandom): Json =>
  random.some([8000, 8001, 8002], random.below(3)).map((containerPort) =>
    present({
      containerPort,
      name: maybe(random, `p${containerPort}`, 0.5),
      protocol: maybe(random, "TCP", 0.3),
    }),
  );

const resources = (random: PseudoRandom): Json => ({
  requests: map(random, ["cpu", "memory"], ["1", "1000m", "0.5"]),
});

const ofContainer: readonly Redraw[] = [
  at(["image"], (random) => random.oneOf(["img:1", "img:2", "registry.example.com/img:3"])),
  at(["args"], (random) => maybe(random, random.some(["-v", "--all", "x"], random.below(4)), 0.5)),
  at(["env"], (random) => maybe(random, env(random), 0.7)),
  at(["ports"], (random) => maybe(random, containerPorts(random), 0.7)),
  at(["resources"], (random) => maybe(random, resources(random), 0.4)),
  at(["imagePullPolicy"], (random) => maybe(random, random.oneOf(["Always", "IfNotPresent"]), 0.3)),
  at(["readinessProbe"], (random) =>
    maybe(random, { httpGet: { path: random.oneOf(["/", "/ready"]), port: 8000 }, periodSeconds: 7 }, 0.3),
  ),
];

const podSpec = ["spec", "template", "spec"] as const;
/** It is always declared. */
export const mainContainer = "main";

const container = (random: PseudoRandom, name: string): JsonObject =>
  ofContainer.reduce<JsonObject>((drawn, redraw) => redraw(random, drawn), { name });

/** Sidecars come and go; one part of one container changes. */
function containers(random: PseudoRandom, object: JsonObject): JsonObject {
  const before = listAt(object, ...podSpec, "containers");
  const named = (name: string): JsonObject => {
    const found = before.find((one) => textAt(one, "name") === name);
    return found === undefined ? container(random, name) : objectAt({ found }, "found");
  };
  const names = [mainContainer, ...random.some(["log", "proxy"], random.below(3))];
  const changed = random.oneOf(names);
  const list = random
    .some(names, names.length)
    .map((name) => (name === changed ? random.oneOf(ofContainer)(random, named(name)) : named(name)));
  return setAt(object, [...podSpec, "containers"], list);
}

function volumes(random: PseudoRandom, object: JsonObject): JsonObject {
  const names = random.some(["cache", "conf"], random.below(3));
  const list = names.map((name) =>
    name === "cache"
      ? { name, emptyDir: random.oneOf<JsonObject>([{}, { sizeLimit: "1Gi" }]) }
      : { name, configMap: present({ name: random.oneOf(["c1", "c2"]), optional: maybe(random, true) }) },
  );
  const mounts = names.map((name) => ({
    name,
    mountPath: `/${name}`,
    ...(random.chance(0.4) && { readOnly: true }),
  }));
  const mounted = listAt(object, ...podSpec, "containers").map((one) =>
    textAt(one, "name") === mainContainer
      ? withField(objectAt({ one }, "one"), "volumeMounts", mounts.length > 0 ? mounts : undefined)
      : one,
  );
  const withMounts = setAt(object, [...podSpec, "containers"], mounted);
  return setAt(withMounts, [...podSpec, "volumes"], list.length > 0 ? list : undefined);
}

const toleration = (key: string): JsonObject => ({ key, operator: "Exists", effect: "NoSchedule" });

const ofDeployment: readonly Redraw[] = [
  at(["spec", "replicas"], (random) => random.oneOf([undefined, 0, 1, 2, 3])),
  containers,
  containers,
  containers,
  volumes,
  at(["spec", "template", "metadata", "annotations"], (random) => maybe(random, annotations(random), 0.7)),
  at([...podSpec, "nodeSelector"], (random) => maybe(random, map(random, ["disk", "zone"], ["a", "b"]), 0.5)),
  at([...podSpec, "tolerations"], (random) =>
    maybe(random, random.some(["gpu", "spot"], random.below(3)).map(toleration), 0.5),
  ),
  at([...podSpec, "terminationGracePeriodSeconds"], (random) => random.oneOf([undefined, 5, 30])),
  at(["spec", "paused"], (random) => maybe(random, true, 0.2)),
];

const parts: Readonly<Record<ChildKind, readonly Redraw[]>> = {
  ConfigMap: ofConfigMap,
  Secret: ofSecret,
  Service: ofService,
  Deployment: ofDeployment,
};

function bare(kind: ChildKind, name: string): JsonObject {
  const apiVersion = kind === "Deployment" ? "apps/v1" : "v1";
  const base = { apiVersion, kind, metadata: { name } };
  if (kind !== "Deployment") return base;
  const label = { app: name };
  return { ...base, spec: { selector: { matchLabels: label }, template: { metadata: { labels: label } } } };
}

/** A new child. */
export const drawnChild = (random: PseudoRandom, kind: ChildKind, name: string): JsonObject =>
  [...parts[kind], ...ofMetadata].reduce((object, redraw) => redraw(random, object), bare(kind, name));

/** The child with one part of it drawn again. */
export function changedChild(random: PseudoRandom, kind: ChildKind, object: JsonObject): JsonObject {
  const all = random.chance(0.25) ? ofMetadata : parts[kind];
  return random.oneOf(all)(random, object);
}

/** The child with another name. */
export function renamed(object: JsonObject, name: string): JsonObject {
  const moved = setAt(object, ["metadata", "name"], name);
  if (field(object, "kind") !== "Deployment") return moved;
  const label = { app: name };
  return setAt(
    setAt(moved, ["spec", "selector", "matchLabels"], label),
    ["spec", "template", "metadata", "labels"],
    label,
  );
}

/** The child with a part that the API server refuses. */
export function invalid(random: PseudoRandom, object: JsonObject): JsonObject {
  const forAll: (readonly [readonly string[], Json])[] = [
    [["metadata", "labels", "not valid!"], "x"],
    [["metadata", "labels", "app"], "not valid!"],
  ];
  const forDeployments: typeof forAll = [
    [["spec", "replicas"], -1],
    // Immutable, and its child is changed in place.
    [["spec", "selector", "matchLabels"], { app: "another" }],
  ];
  const isDeployment = field(object, "kind") === "Deployment";
  const [path, value] = random.oneOf(isDeployment ? [...forAll, ...forDeployments] : forAll);
  return setAt(object, path, value);
}
