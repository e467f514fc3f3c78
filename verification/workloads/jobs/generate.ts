// Random sequences of user actions on Jobs.
import { delayAnnotation, fateAnnotation, whenDeletedAnnotation } from "@drover/real-cluster";
import { pseudoRandom, type PseudoRandom } from "@drover/random";
import { textAt, type Json, type JsonObject } from "../../../packages/sandbox/src/json.ts";
import type { Action, Policy, Sequence } from "../sequences/actions.ts";
import { uidOfJob } from "../sequences/actions.ts";
import { indexAnnotation, isIndexed, nameLabel, uidLabel } from "./job.ts";
import type { Made } from "./made.ts";
import { podAction } from "./pod-actions.ts";

interface Scene {
  readonly random: PseudoRandom;
  readonly made: Made[];
  quota: boolean;
}

/** Some of the time, a field. */
const maybe = (random: PseudoRandom, probability: number, fields: () => JsonObject): JsonObject =>
  random.chance(probability) ? fields() : {};

const exitCodes = (random: PseudoRandom): JsonObject => ({
  onExitCodes: random.oneOf<JsonObject>([
    { operator: "In", values: [3] },
    { operator: "In", values: [3, 4] },
    { containerName: "main", operator: "In", values: [4] },
    { operator: "NotIn", values: [1, 4] },
  ]),
});
const disrupted: JsonObject = { onPodConditions: [{ type: "DisruptionTarget", status: "True" }] };

function failurePolicy(random: PseudoRandom, isPerIndex: boolean): JsonObject {
  const actions = ["FailJob", "Ignore", "Count", ...(isPerIndex ? ["FailIndex"] : [])];
  const rule = (): JsonObject => ({
    action: random.oneOf(actions),
    ...(random.chance(0.6) ? exitCodes(random) : disrupted),
  });
  return { rules: Array.from({ length: random.between(1, 2) }, rule) };
}

function successPolicy(random: PseudoRandom, completions: number): JsonObject {
  const last = completions - 1;
  return {
    rules: random.oneOf<JsonObject[]>([
      [{ succeededIndexes: "0" }],
      [{ succeededIndexes: `0-${last}`, succeededCount: 1 }],
      [{ succeededCount: Math.min(2, completions) }],
      [{ succeededIndexes: String(last) }, { succeededCount: completions }],
    ]),
  };
}

interface Shape {
  readonly indexed: boolean;
  readonly never: boolean;
  readonly perIndex: boolean;
  readonly manual: boolean;
  /** The fate of all its pods. */
  readonly fate: "succeeds" | "fails" | "pending" | undefined;
}

function shape(random: PseudoRandom): Shape {
  const indexed = random.chance(0.45);
  const never = random.chance(0.65);
  const draw = random.below(100);
  return {
    indexed,
    never,
    perIndex: indexed && never && random.chance(0.35),
    manual: !indexed && random.chance(0.15),
    fate: draw < 18 ? "succeeds" : draw < 24 ? "fails" : draw < 28 ? "pending" : undefined,
  };
}

/** If pods fail at the same time, and the first ends the Job, it is chance which others are deleted before they fail. */
const parallelisms = (fate: Shape["fate"] | undefined): readonly number[] =>
  fate === "fails" ? [0, 1] : [0, 1, 2, 2, 3, 3, 4];

function counts(random: PseudoRandom, { indexed, fate }: Shape): JsonObject {
  const completions = random.oneOf([1, 2, 3, 4, 5]);
  return {
    ...maybe(random, 0.85, () => ({ parallelism: random.oneOf(parallelisms(fate)) })),
    ...(indexed ? { completionMode: "Indexed", completions } : maybe(random, 0.65, () => ({ completions }))),
  };
}

function limits(random: PseudoRandom, { perIndex, fate }: Shape): JsonObject {
  if (perIndex)
    return {
      backoffLimitPerIndex: fate === "fails" ? 0 : random.oneOf([0, 1, 2]),
      ...maybe(random, 0.5, () => ({ maxFailedIndexes: random.oneOf([0, 1, 2]) })),
    };
  // With a pod that always fails, back-off would take minutes.
  if (fate === "fails") return { backoffLimit: random.oneOf([0, 1]) };
  return maybe(random, 0.7, () => ({ backoffLimit: random.oneOf([0, 1, 1, 2, 3, 6]) }));
}

function policies(
  random: PseudoRandom,
  { indexed, never, perIndex, fate }: Shape,
  completions: number,
): JsonObject {
  const hasFailurePolicy = never && random.chance(perIndex ? 0.5 : 0.3);
  const replacement = random.oneOf(["Failed", "TerminatingOrFailed"]);
  return {
    ...(hasFailurePolicy
      ? { podFailurePolicy: failurePolicy(random, perIndex) }
      : maybe(random, 0.4, () => ({ podReplacementPolicy: replacement }))),
    ...(indexed &&
      fate !== "succeeds" &&
      random.chance(0.3) && { successPolicy: successPolicy(random, completions) }),
  };
}

function annotationsOf(random: PseudoRandom, { fate }: Shape): JsonObject {
  return {
    ...(fate && { [fateAnnotation]: fate }),
    ...(fate === "succeeds" && maybe(random, 0.3, () => ({ [delayAnnotation]: "1s" }))),
    ...maybe(random, 0.7, () => ({ [whenDeletedAnnotation]: "fails" })),
  };
}

const container = (image: string): JsonObject => ({ containers: [{ name: "main", image }] });

function job(random: PseudoRandom, name: string): JsonObject {
  const of = shape(random);
  const { manual, never, fate } = of;
  const numbers = counts(random, of);
  const completions = typeof numbers["completions"] === "number" ? numbers["completions"] : 1;
  // How far a Job comes by a short deadline is chance if its pods end on their own.
  const deadlines = fate === undefined ? [3, 1_000] : [1_000];
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name, labels: { app: name } },
    spec: {
      ...numbers,
      ...limits(random, of),
      ...policies(random, of, completions),
      ...maybe(random, 0.12, () => ({ suspend: true })),
      ...maybe(random, 0.12, () => ({ activeDeadlineSeconds: random.oneOf(deadlines) })),
      ...maybe(random, 0.3, () => ({ ttlSecondsAfterFinished: random.oneOf([0, 2, 1_000]) })),
      ...maybe(random, 0.1, () => ({
        managedBy: random.oneOf(["kubernetes.io/job-controller", "example.com/other"]),
      })),
      ...(manual && { manualSelector: true, selector: { matchLabels: { app: name } } }),
      template: {
        metadata: {
          ...(manual || random.chance(0.5) ? { labels: { app: name } } : {}),
          annotations: annotationsOf(random, of),
        },
        spec: { ...container("img:1"), restartPolicy: never ? "Never" : "OnFailure" },
      },
    },
  };
}

/** It is not ready when it is adopted, so that whether it goes first again does not depend on how soon that is. */
const orphan = (random: PseudoRandom, at: number, name: string): JsonObject => {
  const index = random.chance(0.5) ? { [indexAnnotation]: String(random.below(3)) } : {};
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `orphan-${at}`,
      labels: { app: name, [uidLabel]: uidOfJob(name), [nameLabel]: name, ...index },
      annotations: { ...index, [delayAnnotation]: "3s" },
    },
    spec: { ...container("img:orphan"), restartPolicy: "Never" },
  };
};

function creation({ random, made }: Scene, name: string): Action {
  const object = job(random, name);
  const fresh = { name, object, gone: false, suspended: false, failures: random.chance(0.2) ? 3 : 2 };
  const known = made.findIndex((one) => one.name === name);
  if (known < 0) made.push(fresh);
  else made[known] = fresh;
  return { do: "create", object };
}

const spec = (name: string, body: JsonObject): Action => ({
  do: "patch",
  kind: "Job",
  name,
  patch: { spec: body },
});

const alwaysFails = (object: JsonObject): boolean =>
  textAt(object, "spec", "template", "metadata", "annotations", fateAnnotation) === "fails";

function scaling(random: PseudoRandom, { name, object }: Made): Action {
  const fails = alwaysFails(object);
  const parallelism = random.oneOf(parallelisms(fails ? "fails" : undefined));
  if (!isIndexed(object) || fails || random.chance(0.4)) return spec(name, { parallelism });
  const both = Math.max(1, parallelism + random.below(2));
  return spec(name, { parallelism: both, completions: both });
}

function jobAction(random: PseudoRandom, made: Made, at: number): Action {
  const { name } = made;
  const draw = random.below(100);
  if (draw < 18) return scaling(random, made);
  if (draw < 28) {
    made.suspended = !made.suspended;
    return spec(name, { suspend: made.suspended });
  }
  if (draw < 31) return spec(name, { activeDeadlineSeconds: random.oneOf<Json>([3, 1_000, 2_000]) });
  if (draw < 35) return spec(name, { ttlSecondsAfterFinished: random.oneOf<Json>([0, 2, 1_000, null]) });
  if (draw < 38)
    return spec(name, { backoffLimit: random.oneOf(alwaysFails(made.object) ? [0, 1] : [0, 1, 6]) });
  if (draw < 40) return { do: "patch", kind: "Job", name, patch: { metadata: { labels: { team: "b" } } } };
  return podAction(random, made, at);
}

/** What meets a Job from outside. */
function encounter(scene: Scene, { name }: Made, at: number): Action {
  const { random } = scene;
  if (random.chance(0.5)) return { do: "create", object: orphan(random, at, name) };
  scene.quota = !scene.quota;
  return { do: "quota", pods: scene.quota ? random.oneOf([0, 1, 2, 3]) : undefined };
}

function nextAction(scene: Scene, at: number): Action {
  const { random, made } = scene;
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
    const policy = random.oneOf<Policy>(["Background", "Foreground", "Orphan"]);
    return { do: "delete", kind: "Job", name: one.name, policy };
  }
  if (draw < 10) {
    for (const each of made) each.gone = true;
    return { do: "clear" };
  }
  if (draw < 18) return encounter(scene, one, at);
  if (draw < 30 && made.length < 2) return creation(scene, "api");
  // It may have finished, and been deleted.
  if (draw < 34) return creation(scene, one.name);
  return jobAction(random, one, at);
}

/** The sequence of a seed: 5 to 12 actions. */
export function sequenceOf(seed: number): Sequence {
  const scene: Scene = { random: pseudoRandom(seed), made: [], quota: false };
  const length = 5 + scene.random.below(8);
  return { seed, actions: Array.from({ length }, (_, i) => nextAction(scene, i + 1)) };
}
