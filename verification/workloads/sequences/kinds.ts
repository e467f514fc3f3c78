// The kinds that are looked at, and what is often asked of their objects.
import { builtin, type ResourceRef } from "@drover/kube";
import { field, isObject, listAt, objectAt, textAt, textsAt } from "../../../packages/sandbox/src/json.ts";
import type { Json, JsonObject } from "../../../packages/sandbox/src/json.ts";

const apps = { group: "apps", version: "v1", namespaced: true } as const;
const core = { group: "", version: "v1", namespaced: true } as const;

const batch = { group: "batch", version: "v1", namespaced: true } as const;

export const kinds = {
  Deployment: builtin.deployment,
  ReplicaSet: builtin.replicaSet,
  CronJob: { ...batch, plural: "cronjobs", kind: "CronJob" },
  Job: { ...batch, plural: "jobs", kind: "Job" },
  Service: builtin.service,
  EndpointSlice: builtin.endpointSlice,
  DaemonSet: { ...apps, plural: "daemonsets", kind: "DaemonSet" },
  ControllerRevision: { ...apps, plural: "controllerrevisions", kind: "ControllerRevision" },
  Node: builtin.node,
  Pod: builtin.pod,
  Event: { ...core, plural: "events", kind: "Event" },
} as const satisfies Record<string, ResourceRef>;
export type Kind = keyof typeof kinds;
export const kindNames = Object.keys(kinds) as readonly Kind[];

export const quotas: ResourceRef = { ...core, plural: "resourcequotas", kind: "ResourceQuota" };

/** Keeps a deleted Pod, like one with containers that end slowly. */
export const holdingFinalizer = "example.com/hold";
/** That finalizer keeps it from being deleted. */
export const isHeld = (object: Json): boolean =>
  listAt(object, "metadata", "finalizers").some((one) => one === holdingFinalizer);
export const hashLabel = "pod-template-hash";
/** The same for the pods and revisions of DaemonSets. */
export const revisionHashLabel = "controller-revision-hash";
/** A node's label: the namespace of the sequence that it belongs to. */
export const runLabel = "example.com/run";

export const nameOf = (object: Json): string => textAt(object, "metadata", "name") ?? "";
export const uidOf = (object: Json): string => textAt(object, "metadata", "uid") ?? "";
export const numberAt = (object: Json, ...path: readonly string[]): number | undefined => {
  const found = field(object, ...path);
  return typeof found === "number" ? found : undefined;
};
export const isLeaving = (object: Json): boolean =>
  field(object, "metadata", "deletionTimestamp") !== undefined;

/** The replicas that its spec asks for. */
export const wanted = (object: Json): number => numberAt(object, "spec", "replicas") ?? 1;
/** What its status counts under a name. */
export const counted = (object: Json, name: string): number => numberAt(object, "status", name) ?? 0;
/** Its controller has not seen its spec. */
export const isBehind = (object: Json): boolean =>
  numberAt(object, "status", "observedGeneration") !== numberAt(object, "metadata", "generation");

/** The owner that controls it. */
export const controllerOf = (object: Json): JsonObject | undefined =>
  listAt(object, "metadata", "ownerReferences")
    .filter(isObject)
    .find((owner) => owner["controller"] === true);
export const isOwnedBy = (object: Json, owner: Json): boolean =>
  textAt(controllerOf(object), "uid") === uidOf(owner);

/** Whether its selector, which has no other operator than In, selects the labels of an object or template. */
export function selects(owner: Json, object: Json): boolean {
  const label = (key: string): string => textAt(object, "metadata", "labels", key) ?? "";
  const selector = objectAt(owner, "spec", "selector");
  return (
    Object.entries(objectAt(selector, "matchLabels")).every(([key, value]) => label(key) === value) &&
    listAt(selector, "matchExpressions").every((one) =>
      textsAt(one, "values").includes(label(textAt(one, "key") ?? "")),
    )
  );
}

export const conditionOf = (object: Json, type: string): JsonObject | undefined =>
  listAt(object, "status", "conditions")
    .filter(isObject)
    .find((condition) => condition["type"] === type);
export const isTrue = (object: Json, condition: string): boolean =>
  textAt(conditionOf(object, condition), "status") === "True";
export const versionOf = (object: Json): number => Number(textAt(object, "metadata", "resourceVersion") ?? 0);
export const isReady = (pod: Json): boolean => isTrue(pod, "Ready");
export const hasEnded = (pod: Json): boolean =>
  ["Failed", "Succeeded"].includes(textAt(pod, "status", "phase") ?? "");
/** Neither done nor on its way out: what a ReplicaSet counts. */
export const isActive = (pod: Json): boolean => !isLeaving(pod) && !hasEnded(pod);

/** A pod template as JSON, without the hash that distinguishes the ReplicaSets of a Deployment. */
export function templateOf(object: Json): string {
  return JSON.stringify(field(object, "spec", "template") ?? null, (key, value: unknown) =>
    key === hashLabel ? undefined : value,
  );
}
