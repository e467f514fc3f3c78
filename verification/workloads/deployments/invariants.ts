// Invariants of any controller at every moment, checked on the watch events of one action.
import { field, textAt } from "../../../packages/sandbox/src/json.ts";
import type { Json, JsonObject } from "../../../packages/sandbox/src/json.ts";
import type { Action } from "../sequences/actions.ts";
import {
  controllerOf,
  isActive,
  isLeaving,
  isOwnedBy,
  isReady,
  nameOf,
  templateOf,
  uidOf,
  wanted,
} from "../sequences/kinds.ts";
import type { Span } from "../family.ts";
import { follow, livesOf, type Seen } from "../observe.ts";

interface Bounds {
  readonly most: number;
  readonly least: number;
  readonly recreates: boolean;
}

function part(value: Json | undefined, of: number, round: (n: number) => number): number {
  if (typeof value === "string") return round((Number.parseInt(value, 10) * of) / 100);
  return typeof value === "number" ? value : 0;
}

function boundsOf(deployment: Json): Bounds {
  const replicas = wanted(deployment);
  const recreates = textAt(deployment, "spec", "strategy", "type") === "Recreate";
  const rolling = field(deployment, "spec", "strategy", "rollingUpdate") ?? null;
  const surge = recreates ? 0 : part(field(rolling, "maxSurge"), replicas, Math.ceil);
  const missing = part(field(rolling, "maxUnavailable"), replicas, Math.floor);
  return {
    most: replicas + surge,
    least: recreates ? 0 : replicas - (surge === 0 && missing === 0 ? 1 : missing),
    recreates,
  };
}

interface Watched {
  readonly deployment: JsonObject;
  readonly bounds: readonly Bounds[];
  /** Uids of all ReplicaSets that it controlled at any time. */
  readonly sets: ReadonlySet<string>;
  /** Of those, the ones that it made; one that was adopted has had a life of its own. */
  readonly made: ReadonlySet<string>;
}

/** No ReplicaSet is scaled up beyond the limit of all of them. */
function tooMany({ deployment, bounds }: Watched, lives: ReadonlyMap<string, Seen>, one: Seen): string[] {
  if (one.kind !== "ReplicaSet" || one.type === "DELETED" || !isOwnedBy(one.object, deployment)) return [];
  const was = lives.get(uidOf(one.object))?.object;
  // One that was adopted brings its pods along.
  if (was !== undefined && !isOwnedBy(was, deployment)) return [];
  if (wanted(one.object) <= (was === undefined ? 0 : wanted(was))) return [];
  const others = [...lives.values()].filter(
    ({ kind, object }) =>
      kind === "ReplicaSet" && isOwnedBy(object, deployment) && uidOf(object) !== uidOf(one.object),
  );
  const total = others.reduce((sum, { object }) => sum + wanted(object), wanted(one.object));
  const most = Math.max(...bounds.map((bound) => bound.most));
  return total > most
    ? [
        `${nameOf(one.object)} was scaled to ${wanted(one.object)}, ${total} with the others: at most ${most} may be`,
      ]
    : [];
}

/** Two ReplicaSets with one template are one too many. */
function twins({ deployment }: Watched, lives: ReadonlyMap<string, Seen>, one: Seen): string[] {
  if (one.kind !== "ReplicaSet" || one.type !== "ADDED" || !isOwnedBy(one.object, deployment)) return [];
  const twin = [...lives.values()].find(
    ({ kind, object }) =>
      kind === "ReplicaSet" &&
      isOwnedBy(object, deployment) &&
      !isLeaving(object) &&
      templateOf(object) === templateOf(one.object),
  );
  return twin ? [`${nameOf(one.object)} has the template of ${nameOf(twin.object)}`] : [];
}

const isTheirs = (pod: Json, sets: ReadonlySet<string>): boolean =>
  sets.has(textAt(controllerOf(pod), "uid") ?? "");

/** With Recreate, new pods come when the old ones are gone. */
function overlapping({ bounds, made }: Watched, lives: ReadonlyMap<string, Seen>, one: Seen): string[] {
  if (one.kind !== "Pod" || one.type !== "ADDED" || !isTheirs(one.object, made)) return [];
  if (!bounds.every(({ recreates }) => recreates)) return [];
  const owner = textAt(controllerOf(one.object), "uid");
  const old = [...lives.values()].find(
    ({ kind, object }) =>
      kind === "Pod" &&
      isTheirs(object, made) &&
      textAt(controllerOf(object), "uid") !== owner &&
      !["Failed", "Succeeded"].includes(textAt(object, "status", "phase") ?? ""),
  );
  return old ? [`${nameOf(one.object)} came while ${nameOf(old.object)} was there`] : [];
}

const readyPods = (lives: ReadonlyMap<string, Seen>, sets: ReadonlySet<string>): number =>
  [...lives.values()].filter(
    ({ kind, object }) => kind === "Pod" && isTheirs(object, sets) && isActive(object) && isReady(object),
  ).length;

/** Actions that delete no Pod. */
const isPeaceful = ({ do: verb }: Action): boolean =>
  ["patch", "rollOver", "kubectl", "quota"].includes(verb);

function watchedIn({ before, during }: Span): readonly Watched[] {
  const past = livesOf(before);
  return [...livesOf([...before, ...during]).values()]
    .filter(({ kind, object }) => kind === "Deployment" && !isLeaving(object))
    .map(({ object: deployment }) => {
      const was = past.get(uidOf(deployment))?.object;
      const sets = [...before, ...during].filter(
        ({ kind, object }) => kind === "ReplicaSet" && isOwnedBy(object, deployment),
      );
      const made = sets.filter(({ type }) => type === "ADDED");
      return {
        deployment,
        bounds: [boundsOf(deployment), ...(was ? [boundsOf(was)] : [])],
        sets: new Set(sets.map(({ object }) => uidOf(object))),
        made: new Set(made.map(({ object }) => uidOf(object))),
      };
    });
}

const isByHand = (action: Action): boolean =>
  action.do === "replicaSet" || (action.do === "patch" && action.kind === "ReplicaSet");

/** The rules that were broken, in words; each once. */
export function violations(span: Span): readonly string[] {
  const found = new Set<string>();
  for (const watched of watchedIn(span)) {
    const lives = livesOf(span.before);
    const { bounds, sets } = watched;
    const least = Math.min(readyPods(lives, sets), ...bounds.map((bound) => bound.least));
    for (const one of span.during) {
      for (const problem of [
        // What a user scales by hand is set right at once, and was no controller's doing.
        ...(isByHand(span.action) ? [] : tooMany(watched, lives, one)),
        ...twins(watched, lives, one),
        ...overlapping(watched, lives, one),
      ])
        found.add(problem);
      follow(lives, one);
      const ready = one.kind === "Pod" && isPeaceful(span.action) ? readyPods(lives, sets) : Infinity;
      if (ready < least) found.add(`${nameOf(watched.deployment)} had fewer than ${least} ready pods`);
    }
  }
  return [...found];
}
