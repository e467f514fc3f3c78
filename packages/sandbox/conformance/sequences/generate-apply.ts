// Random sequences of server-side applies and other writes by three managers, about one object of each kind.
import { pseudoRandom, type PseudoRandom } from "@drover/random";
import { objectAt } from "../../src/json.ts";
import type { Json, JsonObject } from "../../src/json.ts";
import {
  bundle,
  bundlesIn,
  completeContainer,
  completeDeployment,
  completeService,
  configMap,
  configMapsIn,
  deploymentsIn,
  servicesIn,
} from "../fixtures.ts";
import { apply, named, object, patch, post, put } from "../steps.ts";
import type { Case, Step } from "../steps.ts";

interface Subject {
  readonly path: string;
  /** A complete object, for POST and PUT. */
  readonly whole: (random: PseudoRandom) => JsonObject;
  /** Some fields of the object. */
  readonly part: (random: PseudoRandom) => JsonObject;
  readonly status?: (random: PseudoRandom) => JsonObject;
}

/** Some of the fields, each with one of its values. */
const some = (random: PseudoRandom, fields: Readonly<Record<string, () => Json>>, chance = 0.4): JsonObject =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(() => random.chance(chance))
      .map(([key, value]) => [key, value()]),
  );
/** Some of the items, in any order. */
function items<T extends Json>(random: PseudoRandom, all: readonly T[], chance = 0.5): T[] {
  const chosen = all.filter(() => random.chance(chance));
  return random.chance(0.3) ? chosen.reverse() : chosen;
}
/** The same, and always the first one: the sandbox keeps empty lists of built-in kinds that Go leaves out. */
const firstAnd = <T extends Json>(random: PseudoRandom, [first, ...others]: readonly [T, ...T[]]): T[] => {
  const rest = items(random, others);
  return random.chance(0.3) ? [...rest, first] : [first, ...rest];
};

const pairs = (random: PseudoRandom): JsonObject =>
  some(random, { a: () => random.oneOf(["1", "2"]), b: () => "1", c: () => random.oneOf(["1", "2"]) });
const owner = (name: string, uid: string): JsonObject => ({ apiVersion: "v1", kind: "Node", name, uid });
/**
 * The real server stores maps of the metadata of custom resources that an apply has emptied, and shows none. So Bundles
 * have all of them at all times.
 */
const metadata = (random: PseudoRandom, chance = 0.15): JsonObject =>
  some(
    random,
    {
      labels: () => ({ a: random.oneOf(["1", "2"]), ...pairs(random) }),
      annotations: () => ({ ...pairs(random), c: random.oneOf(["1", "2"]) }),
      finalizers: () => firstAnd(random, ["e.x/a", "e.x/b"]),
      ownerReferences: () => firstAnd(random, [owner(random.oneOf(["n", "m"]), "u"), owner("n", "v")]),
    },
    chance,
  );
const withMetadata = (random: PseudoRandom, made: JsonObject): JsonObject => ({
  ...made,
  metadata: { name: "a", ...metadata(random, made["kind"] === "Bundle" ? 1 : undefined) },
});

const part = (random: PseudoRandom, name: string): JsonObject => ({
  name,
  ...some(random, {
    value: () => random.below(2),
    tags: () => items(random, ["x", "y", "z"]),
    free: () => random.oneOf<Json>([{ a: 1 }, { a: { b: [1] } }, {}, { c: { d: 1 } }]),
  }),
});
/** The fields; few of them are null. */
const withNulls = (random: PseudoRandom, fields: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, random.chance(0.02) ? null : value]));
const bundleFields = (random: PseudoRandom): JsonObject =>
  some(
    random,
    {
      size: () => random.below(2),
      colour: () => random.oneOf(["red", "blue"]),
      parts: () => items(random, ["a", "b", "c"]).map((name) => part(random, name)),
      ports: () =>
        items(random, [
          { port: 1, name: random.oneOf(["m", "n"]) },
          { port: 1, protocol: "UDP" },
          { port: 2, protocol: "TCP" },
        ]),
      tags: () => items(random, ["a", "b", "c", "d"]),
      words: () => items(random, ["a", "b"]),
      objects: () => items(random, [{ name: "a" }, { name: "b", value: random.below(2) }]),
      labels: () => pairs(random),
      tables: () => some(random, { a: () => part(random, "a"), b: () => part(random, "b") }),
      selector: () => pairs(random),
      pair: () =>
        some(random, {
          a: () => random.oneOf(["x", "y"]),
          b: () => some(random, { c: () => random.below(2), d: () => 1 }),
        }),
      maybe: () => random.oneOf<Json>(["x", null]),
      free: () => random.oneOf<Json>([{ a: { b: [1] } }, { a: { b: [2], c: 1 } }, { d: "x" }, {}]),
      any: () => random.oneOf<Json>([1, "x", [1], [2], { a: 1 }, { a: 2, b: { c: 1 } }]),
      mixed: () => random.oneOf<Json>([1, "x"]),
    },
    0.2,
  );

const bundleSpec = (random: PseudoRandom): JsonObject => withNulls(random, bundleFields(random));

const servicePorts = (random: PseudoRandom): [JsonObject, ...JsonObject[]] => [
  { name: "web", port: 80, protocol: "TCP", targetPort: random.oneOf([80, 81]) },
  { name: "dns", port: 53, protocol: "UDP", targetPort: 53 },
  {
    name: "dns-tcp",
    port: 53,
    protocol: "TCP",
    targetPort: 53,
    appProtocol: random.oneOf(["e.x/a", "e.x/b"]),
  },
];

const container = (random: PseudoRandom, name: string, containerPort: number): JsonObject =>
  completeContainer(name, {
    resources: { limits: { cpu: "1", ...some(random, { memory: () => random.oneOf(["1Gi", "2Gi"]) }) } },
    ...some(random, {
      workingDir: () => random.oneOf(["/a", "/b"]),
      env: () => firstAnd(random, ["X", "Y"]).map((one) => ({ name: one, value: random.oneOf(["1", "2"]) })),
      ports: () =>
        firstAnd<JsonObject>(random, [
          { containerPort, protocol: "TCP" },
          { containerPort, protocol: "UDP", name: random.oneOf(["u", "v"]) + name },
        ]),
      command: () => firstAnd(random, ["a", "b"]),
    }),
  });
const containers = (random: PseudoRandom): JsonObject[] =>
  firstAnd(random, [container(random, "a", 80), container(random, "b", 90)]);

const subjects: readonly [Subject, ...Subject[]] = [
  {
    path: bundlesIn,
    whole: (random) => withMetadata(random, bundle("a", { spec: bundleSpec(random) })),
    part: (random) =>
      withMetadata(random, bundle("a", random.chance(0.9) ? { spec: bundleSpec(random) } : {})),
    status: (random) =>
      bundle("a", {
        status: some(random, {
          seen: () => random.below(2),
          conditions: () =>
            items(random, [
              { type: "A", status: random.oneOf(["x", "y"]) },
              { type: "B", status: "x" },
            ]),
        }),
      }),
  },
  {
    path: configMapsIn,
    whole: (random) => withMetadata(random, configMap("a", { data: pairs(random) })),
    part: (random) => withMetadata(random, configMap("a", some(random, { data: () => pairs(random) }, 0.9))),
  },
  {
    path: servicesIn,
    whole: (random) => withMetadata(random, completeService(servicePorts(random))),
    part: (random) =>
      withMetadata(
        random,
        object("v1", "Service", "a", {
          spec: {
            ...objectAt(completeService(firstAnd(random, servicePorts(random))), "spec"),
            ...some(random, {
              selector: () => ({ a: random.oneOf(["1", "2"]), ...pairs(random) }),
              trafficDistribution: () => random.oneOf(["PreferSameZone", "PreferSameNode"]),
              publishNotReadyAddresses: () => true,
            }),
          },
        }),
      ),
  },
  {
    path: deploymentsIn,
    whole: (random) => withMetadata(random, completeDeployment(containers(random))),
    part: (random) =>
      withMetadata(
        random,
        object("apps/v1", "Deployment", "a", {
          spec: {
            ...objectAt(completeDeployment(containers(random)), "spec"),
            ...some(random, { replicas: () => random.oneOf([1, 2]), paused: () => true }),
          },
        }),
      ),
    status: (random) =>
      object("apps/v1", "Deployment", "a", { status: some(random, { replicas: () => 1 + random.below(2) }) }),
  },
];

const managers = ["one", "two", "three"] as const;

/** Some requests about Bundles are about their other version. */
const inOtherVersion = (random: PseudoRandom, step: Step): Step =>
  step.path.startsWith(bundlesIn) && random.chance(0.15)
    ? {
        ...step,
        path: step.path.replace("/v1/", "/v1beta1/"),
        body: { ...objectAt(step.body), apiVersion: "example.com/v1beta1" },
      }
    : step;

function applying(random: PseudoRandom, subject: Subject): Step {
  const { status } = subject;
  const inStatus = status && random.chance(0.2);
  const draws = [random.chance(0.4) ? "force=true" : "", random.chance(0.08) ? "dryRun=All" : ""];
  const query = draws.filter((one) => one !== "").join("&");
  const config = inStatus
    ? status(random)
    : random.chance(0.1)
      ? subject.whole(random)
      : subject.part(random);
  const path = `${subject.path}/a${inStatus ? "/status" : ""}`;
  return inOtherVersion(random, apply(path, config, random.oneOf(managers), query));
}

/** A body for PUT. Only custom resources need a version. */
const replacement = (object: JsonObject, path: string): JsonObject =>
  path !== bundlesIn
    ? object
    : {
        ...object,
        metadata: { ...objectAt(object, "metadata"), resourceVersion: "<last.metadata.resourceVersion>" },
      };

function anyStep(random: PseudoRandom, subject: Subject): Step {
  const { path, whole, status } = subject;
  const [at, query] = [`${path}/a`, `?fieldManager=${random.oneOf(managers)}`];
  const draw = random.below(100);
  if (draw < 62) return applying(random, subject);
  if (draw < 72) return patch(`${at}${query}`, subject.part(random));
  if (draw < 76) return patch(`${at}/status${query}`, (status ?? subject.part)(random));
  if (draw < 86) return put(`${at}${query}`, replacement(whole(random), path));
  if (draw < 89) return post(`${path}${query}`, whole(random));
  // A partial configuration would not be a valid Service or Deployment, which the sandbox does not check.
  if (draw < 91 && path === configMapsIn) return { method: "DELETE", path: at };
  return { method: "GET", path: at };
}

/** The sequence of a seed: a first object, then 8 to 20 requests about it. */
export function applySequenceOf(seed: number): Case {
  const random = pseudoRandom(seed);
  const subject = random.oneOf(subjects);
  const first = random.chance(0.5)
    ? post(`${subject.path}?fieldManager=one`, subject.whole(random))
    : apply(`${subject.path}/a`, subject.whole(random), "one");
  const steps = [first];
  for (let left = 8 + random.below(13); left > 0; left -= 1) {
    const step = anyStep(random, subject);
    if (step.method === "PUT") steps.push(named("last", { method: "GET", path: `${subject.path}/a` }));
    steps.push(step);
  }
  return { name: `apply sequence ${seed}`, steps: [...steps, { method: "GET", path: `${subject.path}/a` }] };
}
