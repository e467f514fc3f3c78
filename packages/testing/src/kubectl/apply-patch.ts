import { isArray, isMergedSet, isObject, type Json, type JsonObject, mergeKeyOf } from "@drover/sandbox";

type Field = readonly [name: string, value: Json];

/** An object, or a part of it, in the last applied manifest and on the server. */
export interface OriginalAndCurrent<Part = JsonObject> {
  readonly before: Part;
  readonly now: Part;
}

/**
 * The patch that `kubectl apply` sends: all fields of the manifest, and the removal of those that only the last applied
 * manifest had. Fields that were in neither stay: other clients have set them.
 *
 * kubectl leaves out unchanged fields; that makes no difference. Its own code is CreateThreeWayMergePatch (apimachinery,
 * strategicpatch) and CreateThreeWayJSONMergePatch (jsonmergepatch).
 *
 * @param isStrategic true for built-in kinds, which have lists that merge by item; otherwise lists are replaced.
 */
export function applyPatch(
  { before, now }: OriginalAndCurrent,
  manifest: JsonObject,
  isStrategic: boolean,
): JsonObject {
  const removed = Object.keys(before).filter((name) => !Object.hasOwn(manifest, name));
  const kept = Object.entries(manifest).flatMap(([name, value]): readonly Field[] => {
    const part = { before: own(before, name), now: own(now, name) };
    // In a merge patch, what was null in both was not removed by this manifest.
    if (value === null) return part.before === null && !isStrategic ? [] : [[name, null]];
    if (isObject(value)) return [[name, partPatch(name, part, value, isStrategic)]];
    return isArray(value) && isStrategic ? listPatch(name, part, value) : [[name, cleared(value)]];
  });
  return Object.fromEntries([...removed.map((name): Field => [name, null]), ...kept]);
}

const own = (fields: JsonObject, name: string): Json | undefined =>
  Object.hasOwn(fields, name) ? fields[name] : undefined;

/** @param name of the field that it is in. */
function partPatch(
  name: string,
  { before, now }: OriginalAndCurrent<Json | undefined>,
  value: JsonObject,
  isStrategic: boolean,
): JsonObject {
  // Directives work on existing parts only: in a new part they would become fields.
  if (isStrategic && !isObject(now)) return value;
  const part = { before: isObject(before) ? before : {}, now: isObject(now) ? now : {} };
  const patch = applyPatch(part, value, isStrategic);
  if (!isStrategic || !isUnion(name)) return patch;
  return { ...patch, $retainKeys: Object.keys(value).filter((field) => value[field] !== null) };
}

/** For a list that merges by item: its items, those to remove, and their order. */
function listPatch(
  list: string,
  part: OriginalAndCurrent<Json | undefined>,
  items: readonly Json[],
): readonly Field[] {
  const before = isArray(part.before) ? part.before : [];
  if (!isArray(part.now)) return [[list, items]];
  const { now } = part;
  const order = `$setElementOrder/${list}`;
  if (isMergedSet(list)) {
    const gone = before.filter((item) => !items.includes(item));
    const removed: readonly Field[] = gone.length > 0 ? [[`$deleteFromPrimitiveList/${list}`, gone]] : [];
    return [[list, items], [order, items], ...removed];
  }
  const key = mergeKeyOf(list, [...items, ...before]);
  if (key === undefined) return [[list, items]];
  const idOf = (item: Json): Json => (isObject(item) ? (item[key] ?? null) : null);
  const patched = items.map((item): Json => {
    const same = (one: Json): boolean => idOf(one) === idOf(item);
    return isObject(item)
      ? partPatch(list, { before: before.find(same), now: now.find(same) }, item, true)
      : item;
  });
  const gone = before.map(idOf).filter((id) => !items.some((item) => idOf(item) === id));
  return [
    [list, [...patched, ...gone.map((id) => ({ $patch: "delete", [key]: id }))]],
    [order, items.map((item) => ({ [key]: idOf(item) }))],
  ];
}

/** Fields of which one excludes another (`patchStrategy: retainKeys`): those that a manifest does not name are removed. */
const isUnion = (field: string): boolean => field === "volumes" || field === "strategy";

/** A manifest as a new object has it: fields that are null are left out. */
export function withoutNulls(manifest: JsonObject): JsonObject {
  const kept = Object.entries(manifest).filter(([, value]) => value !== null);
  return Object.fromEntries(kept.map(([name, value]) => [name, cleared(value)]));
}

function cleared(value: Json): Json {
  if (isArray(value)) return value.map(cleared);
  return isObject(value) ? withoutNulls(value) : value;
}
