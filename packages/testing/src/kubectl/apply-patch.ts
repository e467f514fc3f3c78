import { isArray, isMergedSet, isObject, type Json, type JsonObject, mergeKeyOf } from "@drover/sandbox";

type Field = readonly [name: string, value: Json];

/** What an object, or a part of it, was in the manifest that was applied last, and what it is now. */
export interface OriginalAndCurrent<Part = JsonObject> {
  readonly before: Part;
  readonly now: Part;
}

/**
 * The patch that `kubectl apply` sends: all that the manifest has, and an end to what the manifest had that was applied
 * last and this one has no more. So fields that were never in a manifest stay: others have set them.
 *
 * kubectl leaves out what is so already; that changes nothing. Its own code is CreateThreeWayMergePatch (apimachinery,
 * strategicpatch) and CreateThreeWayJSONMergePatch (jsonmergepatch).
 *
 * @param isStrategic for built-in kinds, some of whose lists merge by item; otherwise lists are replaced.
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
  // Directives are for what is there: in a new part they would be taken for fields.
  if (isStrategic && !isObject(now)) return value;
  const part = { before: isObject(before) ? before : {}, now: isObject(now) ? now : {} };
  const patch = applyPatch(part, value, isStrategic);
  if (!isStrategic || !isUnion(name)) return patch;
  return { ...patch, $retainKeys: Object.keys(value).filter((field) => value[field] !== null) };
}

/** Of a list that merges by item: its items, those that go, and their order among the others'. */
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

/** Fields of which one excludes another (`patchStrategy: retainKeys`): what a manifest does not name goes. */
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
