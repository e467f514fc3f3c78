import { isDeepStrictEqual } from "node:util";

/** A JSON object. */
type Fields = Readonly<Record<string, unknown>>;

/**
 * The JSON merge patch (RFC 7386) from the present fields to the wanted ones. It removes fields that were applied
 * before and are no longer wanted, and keeps fields added by others. Undefined if nothing differs.
 */
export function threeWayMergePatch(wanted: Fields, applied: Fields, present: Fields): Fields | undefined {
  const gone = Object.keys(applied).filter(
    (name) => !Object.hasOwn(wanted, name) && Object.hasOwn(present, name),
  );
  const changed = Object.entries(wanted).flatMap(([name, value]) => {
    const before = present[name];
    if (!isFields(value) || !isFields(before)) {
      return isDeepStrictEqual(value, before) ? [] : [[name, value] as const];
    }
    const was = applied[name];
    const inner = threeWayMergePatch(value, isFields(was) ? was : {}, before);
    return inner === undefined ? [] : [[name, inner] as const];
  });
  const entries = [...changed, ...gone.map((name) => [name, null] as const)];
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
