// Random sequences of requests, about two or three kinds and few names, so that requests meet.
import { objectAt } from "../../src/json.ts";
import type { Json, JsonObject } from "../../src/json.ts";
import { configMap, configMapsIn, pod, podsIn, widget, widgetsIn } from "../fixtures.ts";
import { object } from "../steps.ts";
import type { Case, Step } from "../steps.ts";
import { pseudoRandom, type PseudoRandom } from "@drover/random";

interface Subject {
  readonly path: string;
  readonly status: boolean;
  readonly strategic: boolean;
  readonly make: (random: Pick<PseudoRandom, "oneOf">, name: string, metadata: JsonObject) => JsonObject;
  /** The content of a merge patch, besides metadata. */
  readonly change: (random: PseudoRandom) => JsonObject;
}

const subjects: readonly [Subject, ...Subject[]] = [
  {
    path: configMapsIn,
    status: false,
    strategic: true,
    make: (random, name, metadata) => configMap(name, { data: { a: random.oneOf(["1", "2"]) } }, metadata),
    change: (random) => ({ data: { [random.oneOf(["a", "b"])]: random.oneOf<Json>(["1", "2", null]) } }),
  },
  {
    path: widgetsIn,
    status: true,
    strategic: false,
    make: (random, name, metadata) =>
      widget(name, { spec: { size: random.oneOf([1, 2, 2, 500]) } }, metadata),
    change: (random) =>
      random.oneOf<JsonObject>([
        { spec: { size: random.oneOf<Json>([1, 2, null, "x"]) } },
        { spec: { colour: random.oneOf<Json>(["red", "blue", "green", null]) } },
        { spec: { tags: random.oneOf<Json>([["a"], [], null]) } },
        { status: { seen: random.below(3) } },
      ]),
  },
  {
    // Without its status: a patch of the status that also has a spec makes a new version on the real server only.
    path: widgetsIn.replace("v1/", "v1beta1/"),
    status: false,
    strategic: false,
    make: (random, name, metadata) =>
      object(
        "example.com/v1beta1",
        "Widget",
        name,
        { spec: { size: random.oneOf([1, 2]), old: "x" } },
        metadata,
      ),
    change: (random) => ({ spec: { old: random.oneOf<Json>(["x", "y", null]) } }),
  },
  {
    path: podsIn,
    status: true,
    strategic: true,
    make: (random, name, metadata) =>
      pod(name, { terminationGracePeriodSeconds: random.oneOf([0, 5]) }, metadata),
    change: (random) =>
      random.oneOf<JsonObject>([
        { spec: { containers: [{ name: "main", image: random.oneOf(["image", "other"]) }] } },
        { status: { phase: random.oneOf(["Running", "Failed", "Pending"]) } },
      ]),
  },
];

const names = ["a", "b", "c"] as const;
const finalizers = [["e.x/a"], ["e.x/b"], ["e.x/a", "e.x/b"], [], null] as const;
const selectors = [
  "",
  "labelSelector=l",
  "labelSelector=l%3D1",
  "labelSelector=%21l",
  "fieldSelector=metadata.name%3Da",
] as const;

interface Scene {
  readonly random: PseudoRandom;
  /** The names of earlier answers, which later requests may use. */
  readonly known: readonly string[];
}

function versionFor({ random, known }: Scene): string | undefined {
  const last = known[known.length - 1 - random.below(Math.min(3, known.length))];
  return last === undefined || random.chance(0.35) ? undefined : `<${last}.metadata.resourceVersion>`;
}

function metadataFor(scene: Scene, isNew: boolean): JsonObject {
  const { random } = scene;
  const version = isNew ? undefined : versionFor(scene);
  return {
    ...(random.chance(0.4) && { labels: random.oneOf<Json>([{ l: "1" }, { l: "2" }, {}, null]) }),
    ...(random.chance(0.25) && { finalizers: random.oneOf<Json>(finalizers) }),
    ...(version !== undefined && { resourceVersion: version }),
    ...(random.chance(0.03) && { generateName: "g-" }),
  };
}

const typed = (kind: string): Record<string, string> => ({ "content-type": `application/${kind}+json` });
const dry = (random: PseudoRandom): string => (random.chance(0.07) ? "?dryRun=All" : "");

function patching(scene: Scene, subject: Subject, at: string): Step {
  const { random } = scene;
  const body = random.chance(0.5)
    ? subject.change(random)
    : { metadata: metadataFor(scene, false), ...(random.chance(0.3) && subject.change(random)) };
  const kind = subject.strategic && random.chance(0.3) ? "strategic-merge-patch" : "merge-patch";
  const part = subject.status && random.chance(0.25) ? "/status" : "";
  return { method: "PATCH", path: `${at}${part}${dry(random)}`, body, headers: typed(kind) };
}

const operations = [
  [{ op: "add", path: "/metadata/labels", value: { l: "1" } }],
  [{ op: "remove", path: "/metadata/labels" }],
  [{ op: "remove", path: "/metadata/finalizers/0" }],
  [{ op: "add", path: "/metadata/finalizers/-", value: "e.x/z" }],
  [
    { op: "test", path: "/metadata/labels/l", value: "1" },
    { op: "replace", path: "/metadata/labels/l", value: "2" },
  ],
] as const;

function deleting(scene: Scene, at: string): Step {
  const { random, known } = scene;
  const some = known[random.below(Math.max(1, known.length))];
  const body = random.oneOf<JsonObject | undefined>([
    undefined,
    undefined,
    { gracePeriodSeconds: random.oneOf([0, 3]) },
    some === undefined ? undefined : { preconditions: { uid: `<${some}.metadata.uid>` } },
    some === undefined
      ? undefined
      : { preconditions: { resourceVersion: `<${some}.metadata.resourceVersion>` } },
    { dryRun: ["All"] },
  ]);
  return {
    method: "DELETE",
    path: at,
    ...(body && { body: { kind: "DeleteOptions", apiVersion: "v1", ...body } }),
  };
}

function putting(scene: Scene, subject: Subject, at: string, name: string): Step {
  const { random } = scene;
  const made = subject.make(random, name, metadataFor(scene, false));
  const part = subject.status && random.chance(0.2) ? "/status" : "";
  const status = part === "" ? {} : { status: objectAt(subject.change(random), "status") };
  return { method: "PUT", path: `${at}${part}${dry(random)}`, body: { ...made, ...status } };
}

function anyStep(scene: Scene, subject: Subject): Step {
  const { random } = scene;
  const name = random.oneOf(names);
  const at = `${subject.path}/${name}`;
  const draw = random.below(100);
  if (draw < 28)
    return {
      method: "POST",
      path: `${subject.path}${dry(random)}`,
      body: subject.make(random, name, metadataFor(scene, true)),
    };
  if (draw < 42) return putting(scene, subject, at, name);
  if (draw < 62) return patching(scene, subject, at);
  if (draw < 68)
    return { method: "PATCH", path: at, body: random.oneOf<Json>(operations), headers: typed("json-patch") };
  if (draw < 82) return deleting(scene, at);
  if (draw < 84 && subject.path === podsIn)
    return {
      method: "POST",
      path: `${at}/binding`,
      body: object("v1", "Binding", name, { target: { kind: "Node", name: "n" } }),
    };
  if (draw < 92) return { method: "GET", path: at };
  return { method: "GET", path: `${subject.path}?${random.oneOf(selectors)}` };
}

/** Draws the first value everywhere, which is valid. */
const first: Pick<PseudoRandom, "oneOf"> = {
  oneOf(choices) {
    for (const choice of choices) return choice;
    throw new Error("There is nothing to choose from.");
  },
};

/** A list and a watch of all changes of a kind since the first list; the object `zz` is the end. */
const ending = (subject: Subject, i: number): Step[] => [
  { method: "POST", path: subject.path, body: subject.make(first, "zz", {}) },
  { method: "GET", path: subject.path },
  {
    method: "GET",
    path: `${subject.path}?watch=1&resourceVersion=<start${i}.metadata.resourceVersion>&timeoutSeconds=5`,
    until: "zz",
  },
];

/** The sequence of a seed: 12 to 30 requests about up to three kinds, then a watch of each kind. */
export function sequenceOf(seed: number): Case {
  const random = pseudoRandom(seed);
  const chosen = [...new Set([random.oneOf(subjects), random.oneOf(subjects), random.oneOf(subjects)])];
  const steps: Step[] = chosen.map((subject, i) => ({ method: "GET", path: subject.path, as: `start${i}` }));
  const known: string[] = [];
  for (let left = 12 + random.below(19); left > 0; left -= 1) {
    const subject = chosen[random.below(chosen.length)] ?? subjects[0];
    const as = `s${steps.length}`;
    const step = anyStep({ random, known }, subject);
    steps.push({ ...step, as });
    // The version of a list depends on other cases, so no request uses it.
    if (!step.path.startsWith(`${subject.path}?`) || step.method === "POST") known.push(as);
  }
  return { name: `sequence ${seed}`, steps: [...steps, ...chosen.flatMap(ending)] };
}
