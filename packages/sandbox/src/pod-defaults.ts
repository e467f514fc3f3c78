// Those defaults of pods that depend on something (core/v1, defaults.go; registry/core/pod).
import { field, isObject, listAt, objectAt, textAt, withField } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";
import { volumeSources } from "./pod-schema.ts";

/** Always for the tag `latest` and for none, unless a digest says exactly which. */
function pullPolicy(image: string): string {
  const [tagged = "", digest] = image.split("@");
  const tag = /:([^/:]+)$/.exec(tagged)?.[1];
  return tag === "latest" || (tag === undefined && digest === undefined) ? "Always" : "IfNotPresent";
}

const withDefault = (object: JsonObject, key: string, value: Json): JsonObject =>
  Object.hasOwn(object, key) ? object : { ...object, [key]: value };

function container(given: Json): Json {
  if (!isObject(given)) return given;
  return withDefault(given, "imagePullPolicy", pullPolicy(textAt(given, "image") ?? ""));
}
const volume = (given: Json): Json =>
  !isObject(given) || Object.keys(given).some((key) => Object.hasOwn(volumeSources, key))
    ? given
    : { ...given, emptyDir: {} };

const mapped = (object: JsonObject, key: string, change: (item: Json) => Json): JsonObject =>
  field(object, key) === undefined ? object : withField(object, key, listAt(object, key).map(change));

/** The spec of a template, complete. Both names of the ServiceAccount say the same. */
export function completedPodSpec(spec: JsonObject): JsonObject {
  const account = textAt(spec, "serviceAccountName") ?? textAt(spec, "serviceAccount");
  const named =
    account === undefined ? spec : { ...spec, serviceAccountName: account, serviceAccount: account };
  const contained = ["containers", "initContainers", "ephemeralContainers"].reduce(
    (rest, key) => mapped(rest, key, container),
    named,
  );
  return mapped(contained, "volumes", volume);
}

function requesting(given: Json): Json {
  const limits = objectAt(given, "resources", "limits");
  if (!isObject(given) || Object.keys(limits).length === 0) return given;
  const resources = objectAt(given, "resources");
  return {
    ...given,
    resources: { ...resources, requests: { ...limits, ...objectAt(resources, "requests") } },
  };
}

const evicted = ["not-ready", "unreachable"].map((why) => `node.kubernetes.io/${why}`);
const appliesTo = (key: string) => (one: Json) => {
  const [named, effect] = [textAt(one, "key") ?? "", textAt(one, "effect") ?? "NoExecute"];
  return (named === key || named === "") && effect === "NoExecute";
};

/** The spec of a pod with all its defaults. */
export function completedPod(given: JsonObject): JsonObject {
  const spec = mapped(
    mapped(completedPodSpec(given), "containers", requesting),
    "initContainers",
    requesting,
  );
  return withDefault(spec, "enableServiceLinks", true);
}

/** The spec of a pod as the admission plugins that are on by default leave it. */
export function admittedPod(spec: JsonObject, old: JsonObject | undefined): JsonObject {
  const tolerations = listAt(spec, "tolerations");
  const added = evicted
    .filter((key) => !tolerations.some(appliesTo(key)))
    .map((key) => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 }));
  const tolerant = added.length > 0 ? { ...spec, tolerations: [...tolerations, ...added] } : spec;
  const priority = field(old, "priority") ?? 0;
  return withDefault(withDefault(tolerant, "priority", priority), "preemptionPolicy", "PreemptLowerPriority");
}

/** How well the pod is treated when its node is short of something (apis/core/helper/qos). */
export function qosClass(spec: JsonObject): string {
  const resources = ["containers", "initContainers"].flatMap((key) =>
    listAt(spec, key).map((one) => objectAt(one, "resources")),
  );
  const amount = (of: JsonObject, kind: string, name: string): Json | undefined => field(of, kind, name);
  const measured = ["cpu", "memory"];
  const asks = resources.some((of) =>
    measured.some((name) => amount(of, "requests", name) ?? amount(of, "limits", name)),
  );
  if (!asks) return "BestEffort";
  const fixed = resources.every((of) =>
    measured.every((name) => {
      const limit = amount(of, "limits", name);
      return limit !== undefined && (amount(of, "requests", name) ?? limit) === limit;
    }),
  );
  return fixed ? "Guaranteed" : "Burstable";
}
