/** An object with a patch merged into it: null removes a field (JSON merge patch, RFC 7386). */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isFields(patch)) return patch;
  const result = new Map(Object.entries(isFields(target) ? target : {}));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) result.delete(name);
    else result.set(name, mergePatch(result.get(name), value));
  }
  return Object.fromEntries(result);
}

const isFields = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);
