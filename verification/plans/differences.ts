import { isDeepStrictEqual } from "node:util";
import type { KubeObject } from "@drover/kube";
import type { FieldChange } from "../../apps/cli/src/plan/field-changes.ts";
import type { ObjectPlan, PlannedChange } from "../../apps/cli/src/plan/plan-object.ts";

/** All objects at one moment, by kind and name, as the API server lists them. */
export type Snapshot = ReadonlyMap<string, KubeObject>;

type Effect = "same" | "created" | "changed" | "gone";

const expected = {
  nothing: "same",
  keep: "same",
  waits: "same",
  refused: "same",
  create: "created",
  change: "changed",
  adopt: "changed",
  release: "changed",
  delete: "gone",
  recreate: "gone",
} as const satisfies Record<PlannedChange["action"], Effect>;

/** Where a plan differs from the objects before and after the run that it is for, a line each. */
export function differences(
  plan: ObjectPlan,
  before: Snapshot,
  after: Snapshot,
  own: string,
): readonly string[] {
  const planned = new Map(plan.changes.map((change) => [`${change.kind} ${change.key}`, change]));
  const ids = new Set([...before.keys(), ...after.keys(), ...planned.keys()]);
  return [...ids].flatMap((id) => {
    const change = planned.get(id);
    const [was, is] = [before.get(id), after.get(id)];
    const effect = effectOn(was, is);
    const fields = change?.fields ?? [];
    // Times and the observed generation of its own status are not planned.
    const wanted = id === own ? effect : expected[change?.action ?? "nothing"];
    if (wanted !== effect) return [`${id}: planned ${change?.action ?? "nothing"}, and it is ${effect}`];
    if (effect === "gone" || effect === "same") return [];
    return fieldDifferences(fields, was, is).map((line) => `${id}: ${line}`);
  });
}

function effectOn(was: KubeObject | undefined, is: KubeObject | undefined): Effect {
  if (was === undefined) return is === undefined ? "same" : "created";
  const isGone = is?.metadata.uid !== was.metadata.uid || isDeleted(is) !== isDeleted(was);
  if (isGone) return "gone";
  return is.metadata.resourceVersion === was.metadata.resourceVersion ? "same" : "changed";
}

const isDeleted = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined;

/** Each planned field must have changed so, and without the planned fields the two objects must be equal. */
function fieldDifferences(
  fields: readonly FieldChange[],
  was: KubeObject | undefined,
  is: KubeObject | undefined,
): readonly string[] {
  const [old, now] = [visible(was), visible(is)];
  const wrong = fields.flatMap(({ path, does, hidden, allocated, ...planned }) => {
    const [from, to] = [valueAt(old, path), valueAt(now, path)].map((value) =>
      path.endsWith(orderSuffix) ? namesIn(value) : value,
    );
    const done = from === undefined ? "appears" : to === undefined ? "goes" : "changes";
    const isRight =
      done === does &&
      !isDeepStrictEqual(from, to) &&
      (hidden ||
        allocated ||
        (isDeepStrictEqual(from, planned.before) && isDeepStrictEqual(to, planned.after)));
    return isRight
      ? []
      : [`${path} ${does} in the plan, and was ${JSON.stringify(from)}, is ${JSON.stringify(to)}`];
  });
  for (const { path } of fields) for (const object of [old, now]) remove(object, path);
  const rest = [old, now].map((object) => compact(object));
  return isDeepStrictEqual(rest[0], rest[1])
    ? wrong
    : [...wrong, `other fields differ: ${JSON.stringify(rest[0])} and ${JSON.stringify(rest[1])}`];
}

type Fields = Record<string, unknown>;

/** Ends the path of a list whose items change their places. */
const orderSuffix = " (order)";
const nameOf = (item: unknown): unknown => isFields(item) && (item["name"] ?? item["type"]);
const namesIn = (list: unknown): unknown => (Array.isArray(list) ? list.map(nameOf) : list);

/** A copy without what is not planned: the server's own metadata, Drover's marks, times. */
function visible(object: KubeObject | undefined): Fields {
  if (object === undefined) return {};
  const { apiVersion: _, kind: __, metadata, ...rest } = structuredClone(object);
  const { labels = {}, annotations = {}, ownerReferences = [], finalizers } = metadata;
  const owners = ownerReferences.map((one) => [
    `${one.kind} ${one.name}`,
    one.controller ? "controller" : "owner",
  ]);
  const unmarked = (all: object): object =>
    Object.fromEntries(Object.entries(all).filter(([name]) => !name.startsWith("drover.dev/")));
  return {
    ...rest,
    metadata: {
      labels: unmarked(labels),
      annotations: unmarked(annotations),
      ownerReferences: Object.fromEntries(owners) as object,
      finalizers,
    },
    status: isWebsite(object) ? withoutTimes(rest["status"]) : undefined,
  };
}

const isWebsite = ({ kind }: KubeObject): boolean => kind === "Website";

function withoutTimes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutTimes);
  if (!isFields(value)) return value;
  const kept = Object.entries(value).filter(
    ([name]) => !["lastTransitionTime", "observedGeneration"].includes(name),
  );
  return Object.fromEntries(kept.map(([name, part]) => [name, withoutTimes(part)]));
}

/** The steps of a path such as `spec.containers[web].image`. */
const stepsOf = (path: string): readonly string[] =>
  [...path.replace(orderSuffix, "").matchAll(/\["((?:[^"\\]|\\.)*)"\]|\[([^\]]*)\]|([^.[\]]+)/g)].map(
    ([, quoted, item, name]) => quoted ?? item ?? name ?? "",
  );

/** The name of a step in its parent: of a list it is the index of the item with that name. */
function indexIn(parent: unknown, step: string): string | undefined {
  if (!Array.isArray(parent)) return step;
  const index = parent.findIndex(
    (item) => isFields(item) && ["name", "type"].some((id) => item[id] === step),
  );
  return index >= 0 ? String(index) : /^\d+$/.test(step) ? step : undefined;
}

function valueAt(object: unknown, path: string): unknown {
  return stepsOf(path).reduce<unknown>((value, step) => {
    const index = indexIn(value, step);
    return typeof value === "object" && value !== null && index !== undefined
      ? Reflect.get(value, index)
      : undefined;
  }, object);
}

/** Indexes of lists with names must stay valid while others are removed, so that an item becomes null, and goes in the end. */
function remove(object: Fields, path: string): void {
  const steps = stepsOf(path);
  let parent: unknown = object;
  for (const step of steps.slice(0, -1)) {
    const index = indexIn(parent, step);
    if (typeof parent !== "object" || parent === null || index === undefined) return;
    parent = Reflect.get(parent, index);
  }
  const last = indexIn(parent, steps.at(-1) ?? "");
  if (typeof parent === "object" && parent !== null && last !== undefined) {
    if (path.endsWith(orderSuffix)) sortByName(Reflect.get(parent, last));
    else Reflect.set(parent, last, null);
  }
}

function sortByName(list: unknown): void {
  if (Array.isArray(list)) list.sort((a, b) => String(nameOf(a)).localeCompare(String(nameOf(b))));
}

/** Without what is empty, and without items of which only the name is left. */
function compact(value: unknown): unknown {
  if (value === null || value === undefined) return undefined;
  if (Array.isArray(value)) {
    const items = value.map(compact).filter((item) => item !== undefined && !isNameOnly(item));
    return items.length === 0 ? undefined : items;
  }
  if (!isFields(value)) return value;
  const parts = Object.entries(value)
    .map(([name, part]) => [name, compact(part)] as const)
    .filter(([, part]) => part !== undefined);
  return parts.length === 0 ? undefined : Object.fromEntries(parts);
}

const isNameOnly = (item: unknown): boolean =>
  isFields(item) && nameOf(item) !== undefined && Object.keys(item).length === 1;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
