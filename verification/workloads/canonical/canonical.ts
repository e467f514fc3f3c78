// The state of a namespace without what two runs cannot have in common: names' random parts, uids, addresses, versions.
// Objects are known by their role: a ReplicaSet by its place in history, a pod by its ReplicaSet and what it looks like.
import {
  field,
  isArray,
  isObject,
  isString,
  objectAt,
  omit,
  present,
  textAt,
  type Json,
  type JsonObject,
} from "../../../packages/sandbox/src/json.ts";
import type { Mask } from "./canonical-events.ts";
import { controllerOf, hashLabel, nameOf, revisionHashLabel, templateOf, uidOf } from "../sequences/kinds.ts";
import type { Kind } from "../sequences/kinds.ts";
import type { World } from "../observe.ts";

/** What one run calls things. It is filled as it goes: what was named stays named. */
export interface Naming {
  readonly namespace: string;
  /** Template hashes, by the order in which they came up. */
  readonly hashes: Map<string, string>;
  /** ReplicaSets of rollouts that were overtaken: how many pods each made until then is a matter of timing. */
  readonly overtaken: Set<string>;
  /** When each action began, in milliseconds since 1970. */
  readonly begun: number[];
  /** Schedules that were written, and the texts with places for times that they were made of. */
  readonly written: Map<string, string>;
}

export const newNaming = (namespace: string): Naming => ({
  namespace,
  hashes: new Map(),
  overtaken: new Set(),
  begun: [],
  written: new Map(),
});

const uid = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;
const time = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g;
const address = /\b10\.244(?:\.\d{1,3}){2}\b/g;
const tokenVolume = /\bkube-api-access-[a-z0-9]{5}\b/g;
/** How far a quota was used when a pod was refused: several are created at once. */
const used = /used: pods=\d+/g;
/** The number of a minute, at the end of the name of a CronJob's Job. */
const minutes = /-(\d{8})\b/g;
/** The longest begin of a name to which the API server adds a suffix. */
const longestBegin = 58;
const suffix = "[bcdfghjklmnpqrstvwxz2456789]{5}\\b";

/** Gives the hashes that came up names: those of one action in the order of the templates they stand for. */
function nameHashes(world: World, { hashes }: Naming): void {
  const fresh = new Map<string, string>();
  for (const { kind, object } of world.seen) {
    if (kind !== "ReplicaSet" && kind !== "ControllerRevision") continue;
    const isSet = kind === "ReplicaSet";
    const hash = textAt(object, "metadata", "labels", isSet ? hashLabel : revisionHashLabel);
    if (hash === undefined || hashes.has(hash) || fresh.has(hash)) continue;
    const owner = textAt(controllerOf(object), "name") ?? nameOf(object);
    const template = isSet ? templateOf(object) : JSON.stringify(field(object, "data") ?? null);
    fresh.set(hash, `${owner} ${template.replace(time, "<time>")}`);
  }
  const ordered = [...fresh].sort(([, a], [, b]) => (a < b ? -1 : 1));
  for (const [hash] of ordered) hashes.set(hash, `<hash ${hashes.size + 1}>`);
}

function maskOf(world: World, naming: Naming): Mask {
  const creators = new Set(
    world.seen
      .filter(({ kind }) => kind === "ReplicaSet" || kind === "Job" || kind === "DaemonSet")
      .map(({ object }) => nameOf(object)),
  );
  // The longest first, for one may begin like another. A pod of an Indexed Job has its index in its name.
  const pods = [...creators]
    .sort((a, b) => b.length - a.length)
    .map((name) =>
      name.length < longestBegin
        ? new RegExp(`\\b(${name}(?:-\\d{1,3})?)-${suffix}`, "g")
        : new RegExp(`\\b(${name.slice(0, longestBegin).replace(/\d*$/, "")})\\d*${suffix}`, "g"),
    );
  return (text) => {
    let masked = text.replaceAll(naming.namespace, "<namespace>");
    for (const pod of pods) masked = masked.replace(pod, "$1-<pod>");
    for (const [hash, name] of naming.hashes) masked = masked.replaceAll(hash, name);
    return masked
      .replace(uid, "<uid>")
      .replace(time, "<time>")
      .replace(address, "<address>")
      .replace(tokenVolume, "kube-api-access-<token>")
      .replace(minutes, (_, minute: string) => `-<${minuteOf(Number(minute) * 60_000, naming)}>`)
      .replace(used, "used: pods=<number>");
  };
}

/**
 * The action in which a time falls. The server's times are whole seconds, rounded down; actions are more than a second
 * of silence apart, so there is no doubt.
 */
function actionOf(at: string, { begun }: Naming): string {
  const ms = Date.parse(at);
  const action = begun.filter((start) => ms > start - 1_000).length;
  return action === 0 ? "<before>" : `<during action ${action}>`;
}

/** A minute, counted from that in which the sequence began. */
export const minuteOf = (ms: number, { begun: [first = 0] }: Naming): string =>
  `minute ${Math.floor(ms / 60_000) - Math.floor(first / 60_000)}`;

export interface Walk {
  readonly mask: Mask;
  /** What a time becomes. */
  readonly onTime: (at: string) => string;
  /** Uids of what there is, by kind and name. */
  readonly present: ReadonlyMap<string, string>;
}

function walk(value: Json, how: Walk): Json {
  if (isString(value)) return value.search(time) === 0 ? how.onTime(value) : how.mask(value);
  if (isArray(value)) return value.map((one) => walk(one, how));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [how.mask(key), walk(inner, how)]));
}

/** Owners are compared by their existence, too: a uid without an object is a fault that no name shows. */
function ownersOf(object: Json, how: Walk): Json | undefined {
  const owners = field(object, "metadata", "ownerReferences");
  if (!isArray(owners)) return undefined;
  return owners.filter(isObject).map((owner) => {
    const known = how.present.get(`${textAt(owner, "kind") ?? ""} ${textAt(owner, "name") ?? ""}`);
    return walk(
      { ...owner, uid: known === owner["uid"] ? "of what is there" : "of nothing that is there" },
      how,
    );
  });
}

function metadataOf(object: Json, how: Walk): JsonObject {
  const metadata = objectAt(object, "metadata");
  return present({
    ...objectAt(
      walk(omit(metadata, "uid", "resourceVersion", "managedFields", "namespace", "ownerReferences"), how),
    ),
    ownerReferences: ownersOf(object, how),
  });
}

const conditionsSorted = (status: JsonObject): JsonObject => {
  const conditions = field(status, "conditions");
  if (!isArray(conditions)) return status;
  const typeOf = (one: Json): string => textAt(one, "type") ?? "";
  return { ...status, conditions: [...conditions].sort((a, b) => (typeOf(a) < typeOf(b) ? -1 : 1)) };
};

/** An object with all its fields. */
export const whole = (object: JsonObject, how: Walk): JsonObject =>
  present({
    metadata: metadataOf(object, how),
    spec: walk(field(object, "spec") ?? null, how),
    status: conditionsSorted(objectAt(walk(objectAt(object, "status"), how))),
  });

/** The fields beside the kind, for kinds with other fields than spec and status. */
export const shownFields = (object: JsonObject, how: Walk): JsonObject =>
  present({
    ...objectAt(walk(omit(object, "metadata", "apiVersion", "kind"), how)),
    metadata: metadataOf(object, how),
  });

/** Which of several equal pods is deleted goes by their uids, so how old those are that stay is chance. */
function pod(object: JsonObject, how: Walk): JsonObject {
  const { spec, ...rest } = whole(object, { ...how, onTime: () => "<time>" });
  const scheduled = textAt(object, "spec", "nodeName") !== undefined;
  return { ...rest, spec: { ...objectAt(spec ?? null), ...(scheduled && { nodeName: "<node>" }) } };
}

export const byText = (a: Json, b: Json): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);

/** A pod, and what it looks like. */
export interface ShownPod {
  readonly name: string;
  readonly owner: string;
  readonly shown: JsonObject;
}

/** The way in which the objects of a run are shown. */
export function walkOf(world: World, naming: Naming): Walk {
  nameHashes(world, naming);
  const there = (["Deployment", "ReplicaSet", "CronJob", "Job", "Service", "DaemonSet"] as const).flatMap(
    (kind) =>
      world.objects(kind).map((object): [string, string] => [`${kind} ${nameOf(object)}`, uidOf(object)]),
  );
  return {
    mask: maskOf(world, naming),
    onTime: (at) => actionOf(at, naming),
    present: new Map(there),
  };
}

/** What masks texts of this run. */
export const maskFor = (world: World, naming: Naming): Mask => walkOf(world, naming).mask;

/** The pods, in an order that does not depend on their names. */
export function shownPods(world: World, naming: Naming): readonly ShownPod[] {
  const how = walkOf(world, naming);
  return world
    .objects("Pod")
    .map((object) => ({
      name: nameOf(object),
      owner: how.mask(textAt(controllerOf(object), "name") ?? "(nobody)"),
      shown: pod(object, how),
    }))
    .sort((a, b) => byText([a.owner, a.shown], [b.owner, b.shown]));
}

/** How many pods were ever created for each owner. */
export function createdPods(world: World, mask: Mask, { overtaken }: Naming): JsonObject {
  const counts: Record<string, number> = {};
  for (const { kind, type, object } of world.seen) {
    const owner = controllerOf(object);
    if (kind !== "Pod" || type !== "ADDED" || owner === undefined) continue;
    if (overtaken.has(textAt(owner, "name") ?? "")) continue;
    const name = mask(textAt(owner, "name") ?? "");
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/** The objects of a kind by their names. */
export const namedObjects = (
  world: World,
  { mask }: Walk,
  kind: Kind,
  show: (object: JsonObject) => JsonObject,
): JsonObject =>
  Object.fromEntries(world.objects(kind).map((object) => [mask(nameOf(object)), show(object)]));

/** The pods by their owners. */
export function podsByOwner(world: World, naming: Naming): JsonObject {
  const pods: Record<string, JsonObject[]> = {};
  for (const { owner, shown } of shownPods(world, naming)) (pods[owner] ??= []).push(shown);
  return pods;
}
